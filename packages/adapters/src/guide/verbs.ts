import { TurnFailed } from '@atrium/host/ports/agent'
import type { Message } from '@atrium/protocol/chat/message'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { answersOf, formOf } from './form.ts'
import type { Script, Step } from './script.ts'
import { arrow, partsOf } from './tools.ts'
import { models, paceOf, toneKey, topicKey } from './settings.ts'
import { helpText, loremText, planSteps, quoted, tones, topics, usageText, uses } from './words.ts'
import type { Tone, Topic, Verb } from './words.ts'

/**
 * Every script that this message could have been answered by, the likeliest first. The tone may be changed while a turn
 * is broken off; what was begun in one tone is ended in it.
 */
export function* scriptsOf(message: Message, chat: ChatState, session: SessionState): Iterable<Script> {
  const { [toneKey]: tone, [topicKey]: topic } = session.config?.values ?? {}
  const [usual = 'friendly'] = tones
  const chosen = tones.find((each) => each === tone) ?? usual
  for (const each of [chosen, ...tones.filter((other) => other !== chosen)])
    yield scriptOf(message, chat, each, topics.get(typeof topic === 'string' ? topic : 'start'))
}

function scriptOf(message: Message, chat: ChatState, tone: Tone, topic: Topic | undefined): Script {
  const [first = ''] = message.text.split('\n', 1)
  // As it is typed, or as it is completed.
  const [, slash = '', name = ''] = /^\s*(\/?)(\S{1,20})(?:\s|$)/.exec(first) ?? []
  const word = name.toLowerCase()
  const verb = isVerb(word) ? word : undefined
  const ms = paceOf(message.model)
  const lively = message.model?.id === models.lively.id
  const thought: Script = lively
    ? [{ kind: 'reasoning', text: `Somebody sent ${quoted(message.text)}. Let me see.`, ms }]
    : []
  if (!verb) return [...thought, { kind: 'markdown', text: helpText(message.text, tone, topic), ms }]
  const rest = message.text
    .trimStart()
    .slice(slash.length + verb.length)
    .trim()
  const steps = verbs[verb]({ rest, tone, ms, working: chat.origin?.kind === 'tool' })
  return [...thought, ...(steps ?? [{ kind: 'markdown', text: usageText(verb, tone), ms }])]
}

interface Asked {
  /** What stands behind the verb. */
  readonly rest: string
  readonly tone: Tone
  readonly ms: number
  /** It is a worker that is asked. */
  readonly working: boolean
}

/** What each verb does; nothing where it was used wrongly. */
const verbs: { readonly [V in Verb]: (asked: Asked) => Script | undefined } = {
  say: ({ rest, ms }) => (rest === '' ? undefined : [{ kind: 'markdown', text: rest, ms }]),

  think: ({ rest, tone, ms }) => {
    if (rest === '') return undefined
    const thought = `I was asked to think about this: ${rest}\n\nA script has no opinions, so I only turn it over once.`
    const answer =
      tone === 'brief' ? 'Thought about it.' : 'I thought about it. You can open my thoughts above.'
    return [
      { kind: 'reasoning', text: thought, ms },
      { kind: 'markdown', text: answer, ms },
    ]
  },

  plan: ({ rest, tone, ms }) => {
    const goal = rest === '' ? 'a first look at Atrium' : quoted(rest)
    const time = tone === 'brief' ? '' : '. Each step takes a minute at most'
    return [
      { kind: 'systemNotification', text: `A plan of ${planSteps.length} steps` },
      { kind: 'markdown', text: `My plan for ${goal}${time}:\n\n`, ms },
      ...planSteps.map(([activity, text]): Step => ({ kind: 'markdown', text, ms, activity })),
    ]
  },

  spawn: ({ rest, ms, working }) => {
    if (rest === '') return undefined
    // One message could ask for a worker that asks for a worker, as often as the word fits in.
    if (working) return [{ kind: 'markdown', text: 'A worker lets nobody else work.', ms }]
    return [
      { kind: 'toolCall', text: rest },
      { kind: 'markdown', text: 'The worker is done. Its own chat has what it said.', ms },
    ]
  },

  run: ({ rest }) => (rest === '' ? undefined : [{ kind: 'toolCall', tool: 'run', input: rest }]),

  read: ({ rest }) => (/^\S+$/.test(rest) ? [{ kind: 'toolCall', tool: 'read', input: rest }] : undefined),

  write: ({ rest }) =>
    partsOf(rest)[1] === '' ? undefined : [{ kind: 'toolCall', tool: 'write', input: rest }],

  edit: ({ rest }) =>
    partsOf(rest)[1].includes(arrow) ? [{ kind: 'toolCall', tool: 'edit', input: rest }] : undefined,

  ask: ({ rest, ms }) => [
    { kind: 'inputRequest', request: formOf(rest) },
    { kind: 'markdown', text: answersOf, ms },
  ],

  login: ({ ms }) => [
    { kind: 'toolCall', login: true },
    {
      kind: 'markdown',
      text: 'What you sign in with is kept in the memory of the host alone, and not for long.',
      ms,
    },
  ],

  slow: ({ rest }) => {
    const count = rest === '' ? 10 : countOf(rest, 3600)
    return count === undefined ? undefined : [{ kind: 'markdown', text: loremText(count), ms: 1000 }]
  },

  long: ({ rest }) => {
    const count = countOf(rest, 100_000)
    return count === undefined ? undefined : [{ kind: 'markdown', text: loremText(count), ms: 0 }]
  },

  fail: ({ rest, ms }) => [
    { kind: 'markdown', text: 'I fail now, as I was asked to. ', ms },
    {
      kind: 'fail',
      error: new TurnFailed('guide', rest === '' ? 'The guide was asked to fail.' : quoted(rest), true),
    },
    { kind: 'markdown', text: 'I was resumed, and so this turn ends well.', ms },
  ],

  crash: ({ ms }) => [
    { kind: 'markdown', text: 'This is a sentence that I shall never', ms },
    { kind: 'fail', error: new Error('the guide was asked to crash') },
  ],
}

function isVerb(word: string): word is Verb {
  return Object.hasOwn(uses, word)
}

/** The number that begins a text, from 1 to as many as is sensible. */
function countOf(text: string, most: number): number | undefined {
  const digits = /^(\d{1,7})(?:\s|$)/.exec(text)?.[1]
  const count = Number(digits)
  return digits !== undefined && count >= 1 && count <= most ? count : undefined
}
