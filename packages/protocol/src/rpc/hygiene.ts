import { limits as most } from '../limits.ts'

/** What one message may be at most. */
export interface Limits {
  /** Length in UTF-16 code units; a transport bounds the bytes. */
  readonly size: number
  /** Objects and arrays inside one another. */
  readonly depth: number
  /** Object keys in all. */
  readonly keys: number
}

export const defaultLimits: Limits = { size: most.messageBytes, depth: most.depth, keys: most.keys }

/**
 * For a client: what its host answers is as large as the chats people have. Deeper, too: what came as an action stands
 * further down in a state, and one that no client could read would lock all of them out.
 */
export const clientLimits: Limits = {
  size: most.answerLength,
  depth: most.answerDepth,
  keys: most.answerKeys,
}

/**
 * Looks over the text of a message before it is parsed, in one pass and without building anything: a problem as a
 * sentence, or nothing. Text that is no JSON may pass; the parser finds that. Strings are skipped by `indexOf`, so that
 * long content costs next to nothing.
 */
export function hygiene(text: string, limits: Limits): string | undefined {
  if (text.length > limits.size) return `the message is longer than ${limits.size} characters`
  if (cannotOffend(text, limits)) return undefined
  let depth = 0
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at + 1)
      if (end < 0) return undefined
      if (isKey(text, end + 1)) {
        if (++keys > limits.keys) return `the message has more than ${limits.keys} keys`
        if (isProto(text, at, end)) return 'the key "__proto__" is not allowed'
      }
      at = end
    } else if (code === openBrace || code === openBracket) {
      if (++depth > limits.depth) return `the message is nested deeper than ${limits.depth}`
    } else if (code === closeBrace || code === closeBracket) depth--
  }
  return undefined
}

/**
 * Whether a parsed value holds a number that JSON does not give back: one too large for a double, or -0. A state with
 * one in it would not equal its own text. Of a value that passed `hygiene`, which bounds the depth.
 */
export function hasOddNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value) || Object.is(value, -0)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasOddNumber)
  for (const key in value) if (hasOddNumber((value as Record<string, unknown>)[key])) return true
  return false
}

/** Cheap proofs that settle nearly every frame: native searches instead of a look at every character. */
function cannotOffend(text: string, limits: Limits): boolean {
  if (text.length > limits.keys * shortestEntry) return false
  if (text.includes('__proto__') || text.includes('\\u')) return false
  let openers = 0
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1))
    if (++openers > limits.depth) return false
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1))
    if (++openers > limits.depth) return false
  return true
}

/** `"":0,` */
const shortestEntry = 5

const quote = 34
const backslash = 92
const colon = 58
const openBrace = 123
const closeBrace = 125
const openBracket = 91
const closeBracket = 93

/** The quote that ends a string, or -1. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && text.charCodeAt(end - 1) === backslash) {
    // It ends the string unless an odd number of backslashes stands before it.
    let first = end - 1
    while (first > from && text.charCodeAt(first - 1) === backslash) first--
    if ((end - first) % 2 === 0) break
    end = text.indexOf('"', end + 1)
  }
  return end
}

function isKey(text: string, after: number): boolean {
  let at = after
  while (text.charCodeAt(at) <= 32) at++
  return text.charCodeAt(at) === colon
}

/** Also in disguise: `"\u005f_proto__"` is the same key, and any disguise is longer. */
function isProto(text: string, from: number, end: number): boolean {
  const length = end - from - 1
  if (length < 9) return false
  const name = text.slice(from + 1, end)
  if (length === 9) return name === '__proto__'
  return name.includes('\\') && unescaped(name) === '__proto__'
}

function unescaped(name: string): string | undefined {
  try {
    return JSON.parse(`"${name}"`) as string
  } catch {
    return undefined
  }
}
