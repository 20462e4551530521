import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, Conversation, Piece, Message } from './conversation.ts'
import { callFor, completionOf, foundCall, isSearch, searchFor, toolWords } from './tool.ts'
import type { ToolWord } from './tool.ts'

/** One step of a script: `[[word:text]]`. */
export interface Step {
  readonly word: Word
  readonly text: string
}

const words = ['think', 'say', 'hang', 'error', ...toolWords] as const
export type Word = (typeof words)[number]

const callsTool = (word: Word): word is ToolWord => toolWords.some((each) => each === word)

/** Returns the script in a text; empty if there is none. */
export function scriptIn(text: string): readonly Step[] {
  const found = text.matchAll(new RegExp(`\\[\\[(${words.join('|')}):([^]*?)\\]\\]`, 'g'))
  return Array.from(found, ([, word, inner]) => ({ word: word as Word, text: inner ?? '' }))
}

/**
 * Returns the steps of the script after the last call that was carried out; undefined if the history has no script.
 * The model keeps no state and counts the calls in the history, so a repeated request gets the same answer, also from
 * another process.
 */
export function remaining({ history: messages }: Conversation): readonly Step[] | undefined {
  const history = messages.flatMap(transcriptApart)
  const given = scriptAt(history)
  const script = history[given]
  if (!script) return undefined
  const steps = scriptIn(script.text)
  let left = doneSince(history.slice(given + 1)) + doneInTranscript(history.slice(0, given), script.text)
  if (left === 0) return steps
  const last = steps.findIndex(({ word }) => callsTool(word) && --left === 0)
  return last < 0 ? [] : steps.slice(last + 1)
}

/** The position of the message with the newest script; -1 if there is none. */
function scriptAt(history: readonly Message[]): number {
  return history.findLastIndex(({ by, text }) => by === 'user' && scriptIn(text).length > 0)
}

/**
 * Returns the number of calls that have a result. Each call counts once, because some agents send a result twice. A denied or
 * interrupted call no longer counts after the next message of the user: the model then makes the call again. A search
 * for a tool is no step of the script.
 */
function doneSince(history: readonly Message[]): number {
  // A user message that begins with a bracket was written by the agent itself, unless a message follows the part in brackets.
  const lastUser = history.findLastIndex(
    ({ by, text }) => by === 'user' && /^\s*[^\s<[]/.test(text.replace(/^\s*<(\w+)>[^<]*<\/\1>/, '')),
  )
  const done = history.flatMap((each, at) =>
    each.by === 'tool' && !isSearch(each.call) && !(at < lastUser && undone.test(each.text))
      ? [each.call]
      : [],
  )
  return new Set(done).size
}

/** Results that agents make up for calls that were denied or interrupted. */
const undone = /^[^]{0,120}\b(?:aborted|rejected|interrupted|declined|denied|cancell?ed)\b/i

/** Some agents join the transcript and the message of the user into one message. Returns them as two. */
function transcriptApart(message: Message): readonly Message[] {
  const at = message.by === 'user' ? message.text.lastIndexOf(transcriptEnd) : -1
  if (at < 0) return [message]
  const texts = [message.text.slice(0, at), message.text.slice(at + transcriptEnd.length)]
  return texts.filter((text) => text.trim() !== '').map((text) => ({ ...message, text }))
}

/** The last line of a transcript that the host gives to an agent. */
const transcriptEnd = 'End of what was said before.'

/**
 * Returns the number of calls that a transcript reports as carried out. An agent that lost its session is given a
 * transcript of the chat, as the message before the script.
 */
function doneInTranscript(before: readonly Message[], script: string): number {
  const last = before.at(-1)
  // An agent may add a text of its own to the message, which is not in the transcript.
  const steps = script.slice(script.indexOf('[['), script.lastIndexOf(']]') + 2)
  const at = last?.by === 'user' ? last.text.lastIndexOf(steps) : -1
  // Some agents report a call twice: when they ask, and when they carry it out.
  return at < 0 ? 0 : new Set(last?.text.slice(at).match(/^\[.+ \((?:done|failed)\)\]$/gm)).size
}

/** Returns the HTTP status that the script wants for the next answer; undefined for a normal answer. */
export function errorStatus(steps: readonly Step[]): number | undefined {
  return steps[0]?.word === 'error' ? Number(steps[0].text) : undefined
}

/** Yields the model's next answer. It ends with a tool call, or at the end of the script. */
export async function* answer(conversation: Conversation, end: AbortSignal): AsyncIterable<Piece> {
  const steps = remaining(conversation)
  // A request without tools is for a title, a summary or advice.
  if (!steps || conversation.tools.length === 0) return yield { is: 'text', text: 'A scripted talk' }
  const last = conversation.history.findLast(({ by }) => by === 'tool')
  const rest: readonly Step[] =
    steps.length > 0 ? steps : [{ word: 'say', text: `Done: ${excerpt(last?.text ?? '')}` }]
  yield* rest.some(({ word }) => callsTool(word))
    ? played(rest, conversation, end)
    : ended(rest, conversation, end)
}

/**
 * Yields the last answer of a script. Some agents have a tool for the last text of their model. The text is then said
 * only by that tool.
 */
async function* ended(
  steps: readonly Step[],
  conversation: Conversation,
  end: AbortSignal,
): AsyncIterable<Piece> {
  const words = steps.flatMap(({ word, text }) => (word === 'say' ? [text] : [])).join('')
  const call = completionOf(words, conversation.tools)
  if (!call) return yield* played(steps, conversation, end)
  yield* played(
    steps.filter(({ word }) => word !== 'say'),
    conversation,
    end,
  )
  yield { is: 'call', call }
}

async function* played(
  steps: readonly Step[],
  conversation: Conversation,
  end: AbortSignal,
): AsyncIterable<Piece> {
  for (const { word, text } of steps) {
    if (word === 'think') yield { is: 'thought', text }
    else if (word === 'say') yield { is: 'text', text }
    else if (word === 'hang') yield* dots(Number(text), end)
    else if (word === 'error') throw new Error(`the script fails here: ${text}`)
    else return yield called(word, text, conversation)
  }
}

/**
 * A search for the tool of a step, or the call of the tool that was found. Undefined if the agent has no search, or if the search
 * for this step had no result.
 */
function search(word: ToolWord, text: string, { tools, history }: Conversation): Call | undefined {
  const last = history.slice(scriptAt(history) + 1).findLast(({ by }) => by === 'tool')
  const isAnswer = last?.by === 'tool' && isSearch(last.call)
  return isAnswer ? foundCall(text, last.text, tools) : searchFor(word, text, tools)
}

function called(word: ToolWord, text: string, conversation: Conversation): Piece {
  const { tools } = conversation
  const call = callFor(word, text, tools) ?? search(word, text, conversation)
  if (call) return { is: 'call', call }
  return { is: 'text', text: `there is no such tool among ${tools.map(({ name }) => name).join(', ')}` }
}

/** Sends a dot ten times a second, so that a client sees that the turn goes on. */
async function* dots(seconds: number, end: AbortSignal): AsyncIterable<Piece> {
  for (let left = seconds * 10; left > 0 && !end.aborted; left--) {
    yield { is: 'text', text: '.' }
    await sleep(100)
  }
}

function excerpt(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 400)
}
