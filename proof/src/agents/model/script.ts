import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, Conversation, Piece, Said } from './conversation.ts'
import { callFor, deeds } from './tool.ts'
import type { Deed } from './tool.ts'

/** One step of a script: `[[word:text]]`. */
export interface Step {
  readonly word: Word
  readonly text: string
}

const words = ['think', 'say', 'hang', 'error', ...deeds] as const
export type Word = (typeof words)[number]

const isDeed = (word: Word): word is Deed => deeds.some((deed) => deed === word)

/** The script that stands in a text, if any does. */
export function scriptIn(text: string): readonly Step[] {
  const found = text.matchAll(new RegExp(`\\[\\[(${words.join('|')}):([^]*?)\\]\\]`, 'g'))
  return Array.from(found, ([, word, inner]) => ({ word: word as Word, text: inner ?? '' }))
}

/**
 * What is left of the script: what follows as many calls as were done since it was given. Nothing is remembered, so an
 * agent that asks again, or comes back in another process, hears the same again.
 */
export function remaining({ said }: Conversation): readonly Step[] | undefined {
  const given = said.findLastIndex(({ by, text }) => by === 'person' && scriptIn(text).length > 0)
  const script = said[given]
  if (!script) return undefined
  const steps = scriptIn(script.text)
  let left = doneSince(said.slice(given + 1)) + toldOf(said.slice(0, given), script.text)
  if (left === 0) return steps
  const last = steps.findIndex(({ word }) => isDeed(word) && --left === 0)
  return last < 0 ? [] : steps.slice(last + 1)
}

/**
 * Calls that a tool has answered; some agents tell an answer twice. One that was not carried out counts until somebody speaks
 * again: to go on means to do it then.
 */
function doneSince(said: readonly Said[]): number {
  // What stands in brackets agents say in the name of people.
  const spoken = said.findLastIndex(({ by, text }) => by === 'person' && !/^\s*[<[]/.test(text))
  const done = said.flatMap((each, at) =>
    each.by === 'tool' && !(at < spoken && undone.test(each.text)) ? [each.call] : [],
  )
  return new Set(done).size
}

/** What agents make up for a call that was denied, or that they never got to. */
const undone = /^.{0,120}\b(?:aborted|rejected|interrupted|declined|denied|cancell?ed)\b/i

/** Calls of which the model has only heard: an agent without a memory hands it a transcript before the script. */
function toldOf(before: readonly Said[], script: string): number {
  const last = before.at(-1)
  const at = last?.by === 'person' ? last.text.lastIndexOf(script) : -1
  return at < 0 ? 0 : (last?.text.slice(at).match(/^\[.+ \((?:done|failed)\)\]$/gm)?.length ?? 0)
}

/** The HTTP status that the next answer is refused with, if it is. */
export function refusal(steps: readonly Step[]): number | undefined {
  return steps[0]?.word === 'error' ? Number(steps[0].text) : undefined
}

/** The next answer. It ends with a call, or with the script. */
export async function* answer(conversation: Conversation, end: AbortSignal): AsyncIterable<Piece> {
  const steps = remaining(conversation)
  // Whoever offers no tools wants a title, a summary or a word of advice.
  if (!steps || conversation.tools.length === 0) return yield { is: 'text', text: 'A scripted talk' }
  const last = conversation.said.findLast(({ by }) => by === 'tool')
  if (steps.length === 0) return yield { is: 'text', text: `Done: ${excerpt(last?.text ?? '')}` }
  for (const { word, text } of steps) {
    if (word === 'think') yield { is: 'thought', text }
    else if (word === 'say') yield { is: 'text', text }
    else if (word === 'hang') yield* dots(Number(text), end)
    else if (word === 'error') throw new Error(`the script breaks off: ${text}`)
    else return yield called(callFor(word, text, conversation.tools), conversation)
  }
}

function called(call: Call | undefined, { tools }: Conversation): Piece {
  if (call) return { is: 'call', call }
  return { is: 'text', text: `there is no such tool among ${tools.map(({ name }) => name).join(', ')}` }
}

/** Something is said all the time, so that whoever listens knows that it goes on. */
async function* dots(seconds: number, end: AbortSignal): AsyncIterable<Piece> {
  for (let left = seconds * 10; left > 0 && !end.aborted; left--) {
    yield { is: 'text', text: '.' }
    await sleep(100)
  }
}

function excerpt(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 400)
}
