import { TurnFailed } from '@atrium/host/ports/agent'
import type { Chat, OfferedTool } from '@atrium/host/ports/agent'
import type { Message } from '@atrium/protocol/chat/message'
import { answersText, exampleForm } from './form.ts'
import { callScripts } from './offered.ts'
import type { Script, Step } from './script.ts'
import { arrow, pathAndRest, reviewedText } from './tools.ts'
import { models, wordDelayMs, toneKey, topicKey } from './settings.ts'
import { helpText, loremText, planSteps, quoted, tones, topics, usageText, verbUsage } from './words.ts'
import type { Tone, Topic, Verb } from './words.ts'

/**
 * Yields every script that could answer a message, beginning with the script in the current tone. The tone setting may change
 * while a turn is interrupted. The resumed turn must keep the tone in which it began, so the scripts in the other tones are
 * tried too.
 */
export function* scriptsOf(message: Message, { state, session, tools }: GuideChat): Iterable<Script> {
  const { [toneKey]: tone, [topicKey]: topic } = session.config?.values ?? {}
  const [defaultTone = 'friendly'] = tones
  const chosen = tones.find((each) => each === tone) ?? defaultTone
  const isWorker = state.origin?.kind === 'tool'
  const context = {
    isWorker,
    topic: topics.get(typeof topic === 'string' ? topic : 'start'),
    tools: tools.list(),
  }
  for (const each of [chosen, ...tones.filter((other) => other !== chosen)])
    yield* scriptsIn(each, message, context)
}

type GuideChat = Pick<Chat, 'state' | 'session' | 'tools'>

interface Context {
  /** Whether the chat belongs to a worker. */
  readonly isWorker: boolean
  readonly topic: Topic | undefined
  readonly tools: readonly OfferedTool[]
}

function* scriptsIn(tone: Tone, message: Message, context: Context): Iterable<Script> {
  const [first = ''] = message.text.split('\n', 1)
  // The slash is optional: completions insert it, and users type the bare word.
  const [, slash = '', name = ''] = /^\s*(\/?)(\S{1,20})(?:\s|$)/.exec(first) ?? []
  const word = name.toLowerCase()
  const verb = isVerb(word) ? word : undefined
  const ms = wordDelayMs(message.model)
  const lively = message.model?.id === models.lively.id
  const thought: Script = lively
    ? [{ kind: 'reasoning', text: `Somebody sent ${quoted(message.text)}. Let me see.`, ms }]
    : []
  if (!verb)
    return yield [...thought, { kind: 'markdown', text: helpText(message.text, tone, context.topic), ms }]
  const rest = message.text
    .trimStart()
    .slice(slash.length + verb.length)
    .trim()
  const usage: Script = [{ kind: 'markdown', text: usageText(verb, tone), ms }]
  const { isWorker, tools } = context
  const scripts =
    verb === 'call' ? callScripts(rest, tools, ms) : oneOrNone(verbs[verb]({ rest, tone, ms, isWorker }))
  for (const steps of scripts ?? [usage]) yield [...thought, ...steps]
}

function oneOrNone(script: Script | undefined): readonly Script[] | undefined {
  return script && [script]
}

interface VerbInput {
  /** The text after the verb. */
  readonly rest: string
  readonly tone: Tone
  /** Delay before each word, in milliseconds. */
  readonly ms: number
  /** Whether the chat belongs to a worker. */
  readonly isWorker: boolean
}

/** The script of each verb except `call`, which has two. Undefined if the rest of the message is not valid for the verb. */
const verbs: { readonly [V in Exclude<Verb, 'call'>]: (input: VerbInput) => Script | undefined } = {
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

  spawn: ({ rest, ms, isWorker }) => {
    if (rest === '') return undefined
    // Without this check one message could start an unlimited chain of workers.
    if (isWorker) return [{ kind: 'markdown', text: 'A worker cannot start other workers.', ms }]
    return [
      { kind: 'toolCall', text: rest },
      { kind: 'markdown', text: 'The worker is done. Its own chat has what it said.', ms },
    ]
  },

  run: ({ rest }) => (rest === '' ? undefined : [{ kind: 'toolCall', tool: 'run', input: rest }]),
  leave: ({ rest }) => (rest === '' ? undefined : [{ kind: 'toolCall', tool: 'leave', input: rest }]),

  read: ({ rest }) => (/^\S+$/.test(rest) ? [{ kind: 'toolCall', tool: 'read', input: rest }] : undefined),

  write: ({ rest }) =>
    pathAndRest(rest)[1] === '' ? undefined : [{ kind: 'toolCall', tool: 'write', input: rest }],

  edit: ({ rest }) =>
    pathAndRest(rest)[1].includes(arrow) ? [{ kind: 'toolCall', tool: 'edit', input: rest }] : undefined,

  comment: ({ rest }) => commentStep('comment', rest),
  reply: ({ rest }) => commentStep('reply', rest),
  comments: ({ rest }) => (rest === '' ? [{ kind: 'toolCall', tool: 'comments', input: '' }] : undefined),

  steps: ({ rest, ...context }) => {
    const scripts = rest
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => stepsOf(line, context))
    return scripts.length === 0 || scripts.includes(undefined)
      ? undefined
      : scripts.flatMap((script) => script ?? [])
  },

  review: ({ rest, ms }) => {
    const count = countOf(rest, 1000)
    if (count === undefined) return undefined
    return [
      { kind: 'toolCall', tool: 'review', input: String(count) },
      { kind: 'markdown', text: reviewedText, ms },
    ]
  },

  ask: ({ rest, ms }) => [
    { kind: 'inputRequest', request: exampleForm(rest) },
    { kind: 'markdown', text: answersText, ms },
  ],

  login: ({ ms }) => [
    { kind: 'toolCall', login: true },
    {
      kind: 'markdown',
      text: 'The host keeps your token in memory only, and not for long.',
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

/**
 * Returns the steps of one line of `steps`. Returns undefined if the line does not begin with a verb, or uses it
 * wrongly.
 */
function stepsOf(line: string, context: Omit<VerbInput, 'rest'>): Script | undefined {
  const [, name = '', rest = ''] = /^\s*(\S+)\s*(.*)$/s.exec(line) ?? []
  const verb = name.toLowerCase()
  return isVerb(verb) && verb !== 'call' && verb !== 'steps'
    ? verbs[verb]({ ...context, rest: rest.trim() })
    : undefined
}

/**
 * Returns a script with one call, whose input is a word (a place or an id) and a text. Returns undefined if the text
 * is missing.
 */
function commentStep(tool: 'comment' | 'reply', input: string): Script | undefined {
  return pathAndRest(input)[1].trim() === '' ? undefined : [{ kind: 'toolCall', tool, input }]
}

function isVerb(word: string): word is Verb {
  return Object.hasOwn(verbUsage, word)
}

/** Returns the number at the beginning of a text. Returns undefined if there is no number from 1 to `maximum`. */
function countOf(text: string, maximum: number): number | undefined {
  const digits = /^(\d{1,7})(?:\s|$)/.exec(text)?.[1]
  const count = Number(digits)
  return digits !== undefined && count >= 1 && count <= maximum ? count : undefined
}
