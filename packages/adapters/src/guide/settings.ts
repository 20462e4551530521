import type { Settings } from '@atrium/host/ports/agent'
import type { ModelSelection } from '@atrium/protocol/chat/message'
import type { ConfigSchema } from '@atrium/protocol/common/config'
import type { SessionModelInfo } from '@atrium/protocol/root/state'
import { tones, topics } from './words.ts'

export const provider = 'guide'
export const toneKey = 'guide.tone'
export const topicKey = 'guide.topic'

const paceSchema: ConfigSchema = {
  type: 'object',
  properties: {
    pace: {
      type: 'string',
      title: 'Pace',
      description: 'How fast the words come',
      enum: ['instant', 'steady'],
      enumLabels: ['Instant', 'Steady'],
      default: 'instant',
    },
  },
}

export const models = {
  plain: { id: 'guide-plain', provider, name: 'Guide, plain', configSchema: paceSchema },
  lively: { id: 'guide-lively', provider, name: 'Guide, lively', configSchema: paceSchema },
} satisfies { readonly [name: string]: SessionModelInfo }

/** Returns the delay before each word, in milliseconds. */
export function wordDelayMs(model: ModelSelection | undefined): number {
  return model?.config?.['pace'] === 'steady' ? 40 : 0
}

export const settings: Settings = {
  schema: {
    type: 'object',
    properties: {
      [toneKey]: {
        type: 'string',
        title: 'Tone',
        description: 'How much the guide says around its answers',
        enum: [...tones],
        enumLabels: ['Friendly', 'Brief'],
        default: 'friendly',
        sessionMutable: true,
      },
      [topicKey]: {
        type: 'string',
        title: 'Topic',
        description: 'What the help tells more about',
        default: 'start',
        enumDynamic: true,
      },
    },
  },
  async choices(property, query) {
    if (property !== topicKey) return []
    const wanted = query.trim().toLowerCase()
    return [...topics]
      .map(([value, { title, text }]) => ({ value, label: title, description: text }))
      .filter(({ value, label }) => `${value} ${label.toLowerCase()}`.includes(wanted))
  },
}
