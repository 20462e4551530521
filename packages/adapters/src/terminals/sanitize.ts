import { escapeMeans, plainSequence, sequenceMeans } from './escape-sequences.ts'
import { stringMeans } from './osc-strings.ts'
import type { Piece, Trust } from './output-part.ts'

/**
 * What a program writes, cut into pieces that are harmless: what is shown, what the terminal says of itself, what it asks.
 * It reads as a VT500 does, so that nothing is text here and a command in a viewer; whatever is not known to be
 * harmless is left out (S-32). However the text is cut into chunks, the pieces say the same.
 */
export class Stream {
  readonly #trust: Trust
  readonly #most: number
  #pieces: Piece[] = []
  #text = ''
  #state: State = 'ground'
  /** What has come of a sequence that is not complete; nothing of one that is too long. */
  #held: string | undefined = ''

  constructor(trust: Trust, most: number) {
    this.#trust = trust
    this.#most = most
  }

  push(chunk: string): readonly Piece[] {
    if (this.#state === 'ground' && chunk.search(special) < 0) return chunk ? [{ data: chunk }] : []
    for (let at = 0; at < chunk.length;) at = this.#states[this.#state](chunk, at)
    this.#cut()
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  /** Each reads on from a place in the chunk and says how far it came. */
  readonly #states: { readonly [S in State]: (chunk: string, at: number) => number } = {
    ground: (chunk, at) => {
      let to = find(special, chunk, at)
      // Most sequences colour or move, and are whole: they are passed over like text.
      for (let end; (end = plainSequence(chunk, to)) > to;) to = find(special, chunk, end)
      this.#text += at === 0 && to === chunk.length ? chunk : chunk.slice(at, to)
      if (to === chunk.length) return to
      this.#control(chunk.charCodeAt(to))
      return to + 1
    },

    escape: (chunk, at) => {
      const code = chunk.charCodeAt(at)
      if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return this.#interrupted(code, at)
      if (code < 0x30) this.#hold(chunk.charAt(at))
      else if (code < 0x7f) this.#escaped(chunk.charAt(at))
      else return this.#aborted(at)
      return at + 1
    },

    sequence: (chunk, at) => {
      const to = find(notParameter, chunk, at)
      this.#hold(chunk.slice(at, to))
      if (to === chunk.length) return to
      const code = chunk.charCodeAt(to)
      if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return this.#interrupted(code, to)
      if (code >= 0xa0) return this.#aborted(to)
      this.#complete((held) => sequenceMeans(held, chunk.charAt(to)))
      return to + 1
    },

    command: (chunk, at) => this.#string(chunk, at, (held) => stringMeans(held, this.#trust)),

    // Nobody is told what stands in these; and a bell does not end them.
    unheard: (chunk, at) => this.#string(chunk, at),

    commandEscape: (chunk, at) => this.#stringEnd(chunk, at, (held) => stringMeans(held, this.#trust)),

    unheardEscape: (chunk, at) => this.#stringEnd(chunk, at),
  }

  #string(chunk: string, at: number, means?: Meaning): number {
    const to = find(means ? commandEnd : unheardEnd, chunk, at)
    if (means) this.#hold(chunk.slice(at, to))
    if (to === chunk.length) return to
    const code = chunk.charCodeAt(to)
    if (code === ESC) this.#state = means ? 'commandEscape' : 'unheardEscape'
    else if (code === BEL || code === ST) this.#complete(means)
    else this.#interrupted(code, to)
    return to + 1
  }

  /** After an escape only a backslash ends the string; whatever else comes begins anew, and the string was none. */
  #stringEnd(chunk: string, at: number, means?: Meaning): number {
    if (chunk.charAt(at) === '\\') {
      this.#complete(means)
      return at + 1
    }
    this.#begin('escape')
    return at
  }

  #escaped(final: string): void {
    const opened = this.#held === '' ? openers.get(final) : undefined
    if (opened) this.#begin(opened)
    else this.#complete((held) => escapeMeans(held, final))
  }

  /** A control character in the midst of a sequence is obeyed there, unless it ends it or begins another. */
  #interrupted(code: number, at: number): number {
    if (code === CAN || code === SUB) this.#begin('ground')
    else if (code !== DEL) this.#control(code)
    return at + 1
  }

  #aborted(at: number): number {
    this.#begin('ground')
    return at
  }

  #control(code: number): void {
    if (code === ESC) this.#begin('escape')
    else if (code >= 0x80) {
      // An 8-bit control is the 7-bit one in a single byte.
      this.#begin('escape')
      this.#escaped(String.fromCharCode(code - 0x40))
    } else if (code !== ENQ) this.#text += String.fromCharCode(code)
  }

  #begin(state: State): void {
    this.#state = state
    this.#held = ''
  }

  #hold(text: string): void {
    if (this.#held === undefined) return
    this.#held = this.#held.length + text.length > this.#most ? undefined : this.#held + text
  }

  #complete(means?: Meaning): void {
    const held = this.#held
    this.#begin('ground')
    if (held === undefined) return
    const piece = means?.(held)
    if (!piece) return
    if ('data' in piece) this.#text += piece.data
    else {
      this.#cut()
      this.#pieces.push(piece)
    }
  }

  #cut(): void {
    if (this.#text) this.#pieces.push({ data: this.#text })
    this.#text = ''
  }
}

type State = 'ground' | 'escape' | 'sequence' | 'command' | 'unheard' | 'commandEscape' | 'unheardEscape'
type Meaning = (held: string) => Piece | undefined

const [ENQ, BEL, CAN, SUB, ESC, DEL, ST] = [0x05, 0x07, 0x18, 0x1a, 0x1b, 0x7f, 0x9c] as const

const openers: ReadonlyMap<string, State> = new Map([
  ['[', 'sequence'],
  [']', 'command'],
  // DCS, SOS, PM and APC.
  ['P', 'unheard'],
  ['X', 'unheard'],
  ['^', 'unheard'],
  ['_', 'unheard'],
])

const special = /[\x05\x1b\x80-\x9f]/g
const notParameter = /[^\x20-\x3f]/g
const commandEnd = /[\x07\x18\x1a\x1b\x80-\x9f]/g
const unheardEnd = /[\x18\x1a\x1b\x80-\x9f]/g

function find(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length
}
