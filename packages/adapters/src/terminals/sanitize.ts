import { parseCsi, parseEscape, plainCsiEnd } from './escape-sequences.ts'
import { parseOsc } from './osc-strings.ts'
import type { OscOptions } from './osc-strings.ts'
import type { OutputPart } from './output-part.ts'

/**
 * Splits a program's output into harmless parts: text to show, facts such as title and directory, and queries. It parses
 * like a VT500, so that bytes that are text here are never a control sequence in a viewer. Sequences that are not known
 * to be harmless are removed (S-32). The result does not depend on the chunks in which the output arrives.
 */
export class Sanitizer {
  readonly #osc: OscOptions
  readonly #maxSequence: number
  #parts: OutputPart[] = []
  #text = ''
  #state: State = 'ground'
  /** The beginning of an incomplete sequence; undefined if the sequence is too long. */
  #sequence: string | undefined = ''

  constructor(osc: OscOptions, maxSequence: number) {
    this.#osc = osc
    this.#maxSequence = maxSequence
  }

  push(chunk: string): readonly OutputPart[] {
    if (this.#state === 'ground' && chunk.search(special) < 0) return chunk ? [{ data: chunk }] : []
    for (let at = 0; at < chunk.length;) at = this.#states[this.#state](chunk, at)
    this.#flushText()
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  /**
   * The parser of each state. It reads from a position in the chunk, and returns the position after the part that it has
   * read.
   */
  readonly #states: { readonly [S in State]: (chunk: string, at: number) => number } = {
    ground: (chunk, at) => {
      let to = find(special, chunk, at)
      // A fast path: most sequences are complete and only set colours or move the cursor. They are skipped like text.
      for (let end; (end = plainCsiEnd(chunk, to)) > to;) to = find(special, chunk, end)
      this.#text += at === 0 && to === chunk.length ? chunk : chunk.slice(at, to)
      if (to === chunk.length) return to
      this.#control(chunk.charCodeAt(to))
      return to + 1
    },

    escape: (chunk, at) => {
      const code = chunk.charCodeAt(at)
      if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return this.#controlInSequence(code, at)
      if (code < 0x30) this.#collect(chunk.charAt(at))
      else if (code < 0x7f) this.#endEscape(chunk.charAt(at))
      else return this.#abort(at)
      return at + 1
    },

    csi: (chunk, at) => {
      const to = find(notParameter, chunk, at)
      this.#collect(chunk.slice(at, to))
      if (to === chunk.length) return to
      const code = chunk.charCodeAt(to)
      if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return this.#controlInSequence(code, to)
      if (code >= 0xa0) return this.#abort(to)
      this.#complete((sequence) => parseCsi(sequence, chunk.charAt(to)))
      return to + 1
    },

    osc: (chunk, at) => this.#string(chunk, at, (sequence) => parseOsc(sequence, this.#osc)),

    oscEscape: (chunk, at) => this.#stringEnd(chunk, at, (sequence) => parseOsc(sequence, this.#osc)),

    // DCS, SOS, PM and APC strings are removed. Unlike an OSC string, BEL does not end them.
    ignoredString: (chunk, at) => this.#string(chunk, at),

    ignoredStringEscape: (chunk, at) => this.#stringEnd(chunk, at),
  }

  #string(chunk: string, at: number, parse?: ParseSequence): number {
    const to = find(parse ? oscEnd : ignoredStringEnd, chunk, at)
    if (parse) this.#collect(chunk.slice(at, to))
    if (to === chunk.length) return to
    const code = chunk.charCodeAt(to)
    if (code === ESC) this.#state = parse ? 'oscEscape' : 'ignoredStringEscape'
    else if (code === BEL || code === ST) this.#complete(parse)
    else this.#controlInSequence(code, to)
    return to + 1
  }

  /**
   * Handles the character after an ESC in a string. A backslash ends the string. Any other character cancels it and
   * starts an escape sequence.
   */
  #stringEnd(chunk: string, at: number, parse?: ParseSequence): number {
    if (chunk.charAt(at) === '\\') {
      this.#complete(parse)
      return at + 1
    }
    this.#enter('escape')
    return at
  }

  #endEscape(final: string): void {
    const opened = this.#sequence === '' ? introducers.get(final) : undefined
    if (opened) this.#enter(opened)
    else this.#complete((sequence) => parseEscape(sequence, final))
  }

  /**
   * Handles a control character inside a sequence. CAN and SUB cancel the sequence, ESC and C1 start a new one, and
   * any other control character is executed at once.
   */
  #controlInSequence(code: number, at: number): number {
    if (code === CAN || code === SUB) this.#enter('ground')
    else if (code !== DEL) this.#control(code)
    return at + 1
  }

  #abort(at: number): number {
    this.#enter('ground')
    return at
  }

  #control(code: number): void {
    if (code === ESC) this.#enter('escape')
    else if (code >= 0x80) {
      // A C1 control is the one-byte form of ESC and a letter.
      this.#enter('escape')
      this.#endEscape(String.fromCharCode(code - 0x40))
    } else if (code !== ENQ) this.#text += String.fromCharCode(code)
  }

  #enter(state: State): void {
    this.#state = state
    this.#sequence = ''
  }

  #collect(text: string): void {
    if (this.#sequence === undefined) return
    const fits = this.#sequence.length + text.length <= this.#maxSequence
    this.#sequence = fits ? this.#sequence + text : undefined
  }

  #complete(parse?: ParseSequence): void {
    const sequence = this.#sequence
    this.#enter('ground')
    if (sequence === undefined) return
    const part = parse?.(sequence)
    if (!part) return
    if ('data' in part) this.#text += part.data
    else {
      this.#flushText()
      this.#parts.push(part)
    }
  }

  #flushText(): void {
    if (this.#text) this.#parts.push({ data: this.#text })
    this.#text = ''
  }
}

type State = 'ground' | 'escape' | 'csi' | 'osc' | 'oscEscape' | 'ignoredString' | 'ignoredStringEscape'
type ParseSequence = (sequence: string) => OutputPart | undefined

const [ENQ, BEL, CAN, SUB, ESC, DEL, ST] = [0x05, 0x07, 0x18, 0x1a, 0x1b, 0x7f, 0x9c] as const

/** The characters after ESC that start a longer sequence. */
const introducers: ReadonlyMap<string, State> = new Map([
  ['[', 'csi'],
  [']', 'osc'],
  // DCS, SOS, PM and APC.
  ['P', 'ignoredString'],
  ['X', 'ignoredString'],
  ['^', 'ignoredString'],
  ['_', 'ignoredString'],
])

const special = /[\x05\x1b\x80-\x9f]/g
const notParameter = /[^\x20-\x3f]/g
const oscEnd = /[\x07\x18\x1a\x1b\x80-\x9f]/g
const ignoredStringEnd = /[\x18\x1a\x1b\x80-\x9f]/g

function find(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length
}
