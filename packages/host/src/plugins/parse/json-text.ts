import type { TextRange } from '@atrium/protocol/common/text'
import type { LimitValues } from '@atrium/protocol/limits'
import { frameProblem } from '@atrium/protocol/rpc/frame-check'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { Unusable } from './plugin-text.ts'

/** A member of an object in a JSON text. */
export interface Member {
  readonly key: string
  readonly value: unknown
  /** From the key to the end of the value. */
  readonly range: TextRange
}

/** An object in a JSON file, with the places of its members. `lenient` allows comments and commas at the end of a list. */
export class JsonText {
  readonly value: JsonObject
  readonly #text: string
  readonly #lineStarts: readonly number[]

  constructor(text: string, lenient: boolean, { depth, keys }: Pick<LimitValues, 'depth' | 'keys'>) {
    this.#text = lenient ? withoutComments(text) : text
    const problem = frameProblem(this.#text, { size: Number.MAX_SAFE_INTEGER, depth, keys })
    if (problem !== undefined)
      throw new Unusable(`${problem.replace(/^the message/, 'Its JSON').replace(/^the/, 'The')}.`)
    const value = parsed(this.#text)
    if (!isJsonObject(value)) throw new Unusable('It is not a JSON object.')
    this.value = value
    this.#lineStarts = lineStarts(text)
  }

  /**
   * The members of the object that these keys lead to, in the order of the text. If two members have the same key, both are
   * returned. `value` contains only one of them.
   */
  members(...keys: readonly string[]): readonly Member[] {
    let spans = this.#spans(this.#text.indexOf('{'))
    for (const key of keys) {
      const span = spans.findLast((each) => each.key === key)
      if (!span || this.#text[span.value] !== '{') return []
      spans = this.#spans(span.value)
    }
    return spans.map(({ key, start, value, end }) => ({
      key,
      value: JSON.parse(this.#text.slice(value, end)) as unknown,
      range: { start: this.#position(start), end: this.#position(end) },
    }))
  }

  /** Returns the offsets of the members of an object. The text is valid JSON, so nested values can be skipped by their brackets. */
  #spans(open: number): readonly Span[] {
    const text = this.#text
    const spans: Span[] = []
    let at = skipBlanks(text, open + 1)
    while (text[at] === '"') {
      const keyEnd = endOfString(text, at)
      const value = skipBlanks(text, skipBlanks(text, keyEnd) + 1)
      const end = endOfValue(text, value)
      spans.push({ key: String(JSON.parse(text.slice(at, keyEnd))), start: at, value, end })
      const next = skipBlanks(text, end)
      at = text[next] === ',' ? skipBlanks(text, next + 1) : next
    }
    return spans
  }

  #position(offset: number) {
    let low = 0
    let high = this.#lineStarts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low, character: offset - (this.#lineStarts[low] ?? 0) }
  }
}

interface Span {
  readonly key: string
  readonly start: number
  readonly value: number
  readonly end: number
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unusable('It is not valid JSON.')
  }
}

function lineStarts(text: string): readonly number[] {
  return [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), ({ index, 0: end }) => index + end.length)]
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at++
  return at
}

/** The offset behind a string that begins at `from`. A string that does not end reaches to the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const c = text[at] ?? ''
    if (c === '"') {
      at = endOfString(text, at) - 1
      if (depth === 0) return at + 1
    } else if (c === '{' || c === '[') depth++
    else if (c === '}' || c === ']') {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && ', \t\r\n'.includes(c)) return at
  }
  return text.length
}

/** Replaces comments, and commas before a closing bracket, by blanks. So every offset stays the same. */
function withoutComments(text: string): string {
  const uncommented = blanked(text, (at) => (text[at] === '/' ? endOfComment(text, at) : at))
  return blanked(uncommented, (at) => (isLastComma(uncommented, at) ? at + 1 : at))
}

/** Replaces parts of a text outside of its strings by blanks. `endOf` returns the end of the part that begins at an offset. */
function blanked(text: string, endOf: (at: number) => number): string {
  const parts: string[] = []
  let kept = 0
  for (let at = 0; at < text.length; at++) {
    const end = endOf(at)
    if (end > at) {
      parts.push(text.slice(kept, at), text.slice(at, end).replace(/[^\r\n]/g, ' '))
      kept = end
      at = end - 1
    } else if (text[at] === '"') at = endOfString(text, at) - 1
  }
  return parts.join('') + text.slice(kept)
}

function isLastComma(text: string, at: number): boolean {
  return text[at] === ',' && '}]'.includes(text[skipBlanks(text, at + 1)] ?? '-')
}

/** The offset behind a comment that begins at `from`, or `from` if there is none. */
function endOfComment(text: string, from: number): number {
  const second = text[from + 1]
  if (second !== '/' && second !== '*') return from
  const end = second === '/' ? text.indexOf('\n', from) : text.indexOf('*/', from + 2)
  if (end < 0) return text.length
  return second === '/' ? end : end + 2
}
