import type { Agent, Chat, AgentAction } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import { play } from './player.ts'
import { fitting } from './script.ts'
import { models, provider, settings } from './settings.ts'
import { scriptsOf } from './verbs.ts'
import { uses } from './words.ts'
import { pause } from '../process/pause.ts'

/**
 * The agent that is always there: it needs no key and no network. The first word of a message chooses what it does, and
 * the whole answer is known before any of it is said; so a turn that was broken off is gone on with by saying the rest.
 */
export function guide(later: World['later']): Agent {
  return {
    info: {
      provider,
      displayName: 'Atrium Guide',
      description: 'The built-in agent. It shows what Atrium can do, and needs no key and no network.',
      models: Object.values(models),
      capabilities: { multipleChats: { fork: true, sideChat: true } },
    },
    resumes: true,
    settings,
    commands: async () =>
      Object.entries(uses).map(([name, [use, effect]]) => ({ name, description: `${use}: ${effect}` })),
    async *run(chat, signal) {
      for await (const said of turn(chat, (ms) => pause(later, ms, signal))) {
        if (signal.aborted) return
        yield said
      }
    },
  }
}

async function* turn(chat: Chat, wait: (ms: number) => Promise<void>): AsyncIterable<AgentAction> {
  const { activeTurn } = chat.state
  if (activeTurn?.id !== chat.turnId) return
  const script = fitting(scriptsOf(activeTurn.message, chat.state, chat.session), activeTurn)
  yield* play(script, chat, activeTurn, wait)
}
