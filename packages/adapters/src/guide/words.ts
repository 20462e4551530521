export type Tone = 'friendly' | 'brief'
export const tones: readonly Tone[] = ['friendly', 'brief']

export interface Topic {
  readonly title: string
  readonly text: string
}

/** The topics of the help text. The setting `guide.topic` selects one. */
export const topics: ReadonlyMap<string, Topic> = new Map([
  [
    'start',
    {
      title: 'First steps',
      text: 'Open a second window on this session and send `slow` here: both show each word at the same moment. Then close one of them; the turn goes on.',
    },
  ],
  [
    'log',
    {
      title: 'What is kept',
      text: 'Everything here is a numbered action in a log on the disk of the host. A client that reconnects receives what it missed, in order and once.',
    },
  ],
  [
    'turns',
    {
      title: 'When a turn breaks off',
      text: 'Send `fail`: the turn ends with an error that can be resumed, and goes on where it stopped. It is the same when the host is killed in the middle of `long 3000`.',
    },
  ],
  [
    'workers',
    {
      title: 'Workers',
      text: 'Send `spawn plan`: a worker answers in a chat of its own, and the call that began it shows the way there.',
    },
  ],
  [
    'models',
    {
      title: 'Models',
      text: 'Both of my models are scripts. The lively one thinks aloud before it answers. The pace of each can be set: `steady` shows how text is streamed.',
    },
  ],
])

/** Syntax and effect of each verb. */
export const verbUsage = {
  say: ['say <text>', 'I say it back, word by word'],
  think: ['think <text>', 'I think about it first, where you can see it'],
  plan: ['plan [goal]', 'a plan, step by step, with what I am doing'],
  spawn: ['spawn <task>', 'a worker does it in a chat of its own, as in `spawn say hello`'],
  run: ['run <command>', 'I ask, and then run it in a terminal that everyone can watch'],
  leave: ['leave <command>', 'the same, and the command runs on when I have ended, as a server does'],
  read: ['read <path>', 'I ask, and then show the file'],
  write: ['write <path> <text>', 'I show what would change, ask, and then write it'],
  edit: ['edit <path> <old> => <new>', 'the same for a part of a file'],
  comment: ['comment <path>[:<line>] <text>', 'I comment on a line of a file, or on the whole file'],
  reply: ['reply <comment> <text>', 'I answer a comment; `comments` shows their ids'],
  comments: ['comments', 'I list the comments of this session, with the code around them'],
  steps: ['steps', 'I do each of the following lines, one after the other, in one turn'],
  review: ['review <n>', 'I find n words (up to 1,000), and use them only if you approve what I found'],
  call: ['call <tool> {json}', 'I call a tool that a client of this session offers, and show the result'],
  ask: ['ask [about]', 'a form with a question of every kind'],
  login: ['login', 'I wait until you have signed in; any token will do'],
  slow: ['slow [n]', 'n words, one each second; a good moment to cancel'],
  long: ['long <n>', 'n words (up to 100,000) as fast as they go'],
  fail: ['fail [words]', 'the turn fails, and can be resumed'],
  crash: ['crash', 'the turn breaks in the middle of a sentence'],
} as const satisfies { readonly [verb: string]: readonly [use: string, effect: string] }
export type Verb = keyof typeof verbUsage

export function helpText(message: string, tone: Tone, topic: Topic | undefined): string {
  const list = Object.values(verbUsage).map(([use, effect]) => `- \`${use}\`: ${effect}`)
  const echo = message.trim() === '' ? 'You sent no text.' : `You asked: ${quoted(message)}`
  if (tone === 'brief') return [echo, '', ...list].join('\n')
  return [
    'Hello, I am the guide of Atrium. I need no key and no network, because I am not a language model: the first word of a message tells me what to do, and the same message always gets the same answer.',
    '',
    echo,
    '',
    '**What you can send me**',
    '',
    ...list,
    ...(topic ? ['', `**${topic.title}**`, '', topic.text] : []),
  ].join('\n')
}

export function usageText(verb: Verb, tone: Tone): string {
  const [use, effect] = verbUsage[verb]
  const hint = `Use it like this: \`${use}\`: ${effect}.`
  return tone === 'brief' ? hint : `I did not understand that. ${hint}`
}

/**
 * Quotes a text as Markdown code on one line. The text is cut after 100 characters, because a message may have a megabyte.
 */
export function quoted(text: string): string {
  const line = text.slice(0, 400).replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim()
  const short = /^.{0,100}/su.exec(line)?.[0] ?? ''
  return short === line ? `\`${line}\`` : `\`${short}…\``
}

export const planSteps: readonly (readonly [activity: string, text: string])[] = [
  ['Looking around', '1. **Look around.** Send `hello` and read what this agent can do.\n'],
  [
    'Opening a second window',
    '2. **Open a second window** on this session and send `slow` in one of them.\n',
  ],
  ['Breaking something', '3. **Break something.** Send `fail`, and resume the turn.\n'],
  ['Asking for help', '4. **Ask for help.** Send `spawn say hello` and follow the worker.\n'],
]

const lorem =
  'atrium light falls through the open roof and every door of the house leads here so whoever enters sees the same water the same stone and the same sky'.split(
    ' ',
  )

/**
 * Returns `count` words. The same count always gives the same words. The stride through the word list changes, so that no
 * passage repeats soon.
 */
export function loremText(count: number): string {
  const words: string[] = []
  for (let i = 0; i < count; i++) words.push(lorem[(i * 7 + Math.floor(i / 28) * 3) % lorem.length] ?? '')
  return words.join(' ')
}

export function wordCount(text: string): number {
  let count = 0
  for (const _ of text.matchAll(/\S+/g)) count++
  return count
}
