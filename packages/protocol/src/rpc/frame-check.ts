import { isJsonObject } from '../json.ts'
import { limits as allLimits } from '../limits.ts'

/** The limits of one message. */
export interface FrameLimits {
  /** Length in UTF-16 code units. The transport limits the bytes. */
  readonly size: number
  /** Levels of nested objects and arrays. */
  readonly depth: number
  /** Number of object keys in the whole message. */
  readonly keys: number
}

export const defaultLimits: FrameLimits = {
  size: allLimits.messageBytes,
  depth: allLimits.depth,
  keys: allLimits.keys,
}

/**
 * The limits for messages that a client receives. They are larger than those for requests, because a response may hold
 * a whole chat. They are also deeper, because a state nests the content of an action further down. No client could read
 * a state beyond these limits.
 */
export const clientLimits: FrameLimits = {
  size: allLimits.answerLength,
  depth: allLimits.answerDepth,
  keys: allLimits.answerKeys,
}

/**
 * Checks the text of a message before it is parsed, in one pass and without allocation. Returns the problem as a
 * sentence, or `undefined`. Text that is not JSON may pass; the parser refuses it later. Strings are skipped with
 * `indexOf`, so that long content costs little.
 */
export function frameProblem(text: string, limits: FrameLimits): string | undefined {
  if (text.length > limits.size) return `the message is longer than ${limits.size} characters`
  if (isObviouslyFine(text, limits)) return undefined
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
 * Whether a parsed value contains a number that does not survive JSON: infinity, or -0. A state with such a number
 * would not equal its own JSON. The recursion is safe because `frameProblem` has limited the depth of the value.
 */
export function hasLossyNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value) || Object.is(value, -0)
  if (Array.isArray(value)) return value.some(hasLossyNumber)
  if (!isJsonObject(value)) return false
  for (const key in value) if (hasLossyNumber(value[key])) return true
  return false
}

/** A fast check that is enough for nearly every frame: native searches instead of a loop over all characters. */
function isObviouslyFine(text: string, limits: FrameLimits): boolean {
  if (text.length > limits.keys * shortestEntry) return false
  if (text.includes('__proto__') || text.includes('\\u')) return false
  let openers = 0
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1))
    if (++openers > limits.depth) return false
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1))
    if (++openers > limits.depth) return false
  return true
}

/** The length of `"":0,`, the shortest key and value. */
const shortestEntry = 5

const quote = 34
const backslash = 92
const colon = 58
const openBrace = 123
const closeBrace = 125
const openBracket = 91
const closeBracket = 93

/** The index of the quote that ends a string, or -1. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && text.charCodeAt(end - 1) === backslash) {
    // The quote ends the string unless an odd number of backslashes precedes it.
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

/** Whether a key is `__proto__`, also with escapes as in `"\u005f_proto__"`. An escaped form is always longer. */
function isProto(text: string, from: number, end: number): boolean {
  const length = end - from - 1
  if (length < 9) return false
  const name = text.slice(from + 1, end)
  if (length === 9) return name === '__proto__'
  return name.includes('\\') && unescaped(name) === '__proto__'
}

function unescaped(name: string): unknown {
  try {
    return JSON.parse(`"${name}"`)
  } catch {
    return undefined
  }
}
