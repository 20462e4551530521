import { has, wordCharacters } from './character-set.ts'
import type { CharacterSet } from './character-set.ts'
import type { Assertion, Tree } from './expression-tree.ts'

/** What `step` returns instead of a place: the text matches, or it cannot match any more. */
export const matched = -1
export const failed = -2
const unknown = -3

/**
 * The most that the automaton remembers: for each place, the number of its states plus the number of character
 * classes. When this sum is reached, all places are forgotten.
 */
const maxKept = 500_000

type State =
  | { readonly set: number; readonly next: number }
  | { readonly assertion: Assertion; readonly next: number }
  | { readonly next: readonly number[] }

/** The kind of the character beside a place: outside of the text, a word character, or another one. */
type Beside = 'outside' | 'word' | 'other'

/**
 * What the automaton knows after some characters of the text: the states that it may be in, and the kind of the last
 * character. The same place may occur several times in a text.
 */
interface Place {
  readonly states: readonly number[]
  readonly before: Beside
  /** The place after a character of each class. The last element is for the end of the text. */
  readonly after: Int32Array
}

/**
 * The automaton of an expression. It reads a text once, character by character. It keeps a set of states for each place, so
 * its time is at most proportional to the size of the expression times the length of the text (S-25). Sets of states that
 * occurred before are remembered, which makes most steps a look into a table.
 */
export class Automaton {
  /** The work since the automaton was made: one for each step, and one for each state that a new step visits. */
  work = 0
  readonly #anchored: boolean
  readonly #states: State[] = [{ next: [] }]
  readonly #sets: CharacterSet[] = []
  readonly #setIds = new Map<CharacterSet, number>()
  readonly #first: number
  readonly #looksAround: boolean
  /** The first code point of each character class. The expression treats all characters of a class alike. */
  readonly #starts: readonly number[]
  readonly #ascii: Uint16Array
  /** For each set, which classes it contains. */
  readonly #contains: readonly Uint8Array[]
  #places: Place[] = []
  #kept = 0
  readonly #placeIds = new Map<string, number>()

  /** An `anchored` automaton matches the whole text. Any other matches a part of it. */
  constructor(tree: Tree, anchored: boolean) {
    this.#anchored = anchored
    this.#first = this.#add(tree, end)
    this.#looksAround = this.#states.some((state) => 'assertion' in state)
    const cuts = [...this.#sets, ...(this.#looksAround ? [wordCharacters] : [])].flatMap((set) =>
      set.flatMap(([from, to]) => [from, to + 1]),
    )
    this.#starts = [...new Set([0, ...cuts])].toSorted((a, b) => a - b)
    this.#ascii = Uint16Array.from({ length: 128 }, (_, code) => this.#search(code))
    this.#contains = this.#sets.map((set) =>
      Uint8Array.from(this.#starts, (code) => (has(set, code) ? 1 : 0)),
    )
  }

  /** Returns the place before the first character. The next call of `start` or `step` may make it invalid. */
  start(): number {
    const states = new Uint8Array(this.#states.length)
    states[this.#first] = 1
    return this.#placeOf(states, 'outside')
  }

  /** Returns the place after a character, `matched` or `failed`. */
  step(place: number, code: number): number {
    this.work++
    const kind = code < 128 ? (this.#ascii[code] ?? 0) : this.#search(code)
    const after = this.#places[place]?.after[kind] ?? unknown
    return after === unknown ? this.#newStep(place, kind) : after
  }

  /** Whether a text that ends at this place matches. */
  endsAt(place: number): boolean {
    const kind = this.#starts.length
    const after = this.#places[place]?.after[kind] ?? unknown
    return (after === unknown ? this.#newStep(place, kind) : after) === matched
  }

  /** Adds the states of a tree. The last of them leads to the state `next`. Returns the first one. */
  #add(tree: Tree, next: number): number {
    if ('set' in tree) return this.#push({ set: this.#setId(tree.set), next })
    if ('assertion' in tree) return this.#push({ assertion: tree.assertion, next })
    if ('sequence' in tree) return tree.sequence.reduceRight((after, each) => this.#add(each, after), next)
    if ('either' in tree) return this.#push({ next: tree.either.map((each) => this.#add(each, next)) })
    const { repeated, min, max } = tree
    let first = next
    if (max === Infinity) {
      const ways = [next]
      first = this.#push({ next: ways })
      ways.push(this.#add(repeated, first))
    } else for (let i = min; i < max; i++) first = this.#push({ next: [next, this.#add(repeated, first)] })
    for (let i = 0; i < min; i++) first = this.#add(repeated, first)
    return first
  }

  #push(state: State): number {
    return this.#states.push(state) - 1
  }

  #setId(set: CharacterSet): number {
    const known = this.#setIds.get(set)
    if (known !== undefined) return known
    const id = this.#sets.push(set) - 1
    this.#setIds.set(set, id)
    return id
  }

  /** Returns the class of a character. */
  #search(code: number): number {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] ?? 0) <= code) low = middle
      else high = middle - 1
    }
    return low
  }

  #newStep(from: number, kind: number): number {
    const place = this.#places[from]
    if (!place) return failed
    const isEnd = kind === this.#starts.length
    const reached = this.#reached(place, isEnd ? 'outside' : this.#besideOf(kind))
    const after = this.#decided(reached, isEnd) ?? this.#readBy(reached, kind)
    place.after[kind] = after
    return after
  }

  #decided(reached: readonly number[], isEnd: boolean): number | undefined {
    if ((isEnd || !this.#anchored) && reached.includes(end)) return matched
    return isEnd ? failed : undefined
  }

  /** Returns the place after the states have read a character of a class. */
  #readBy(reached: readonly number[], kind: number): number {
    const next = new Uint8Array(this.#states.length)
    if (!this.#anchored) next[this.#first] = 1
    for (const id of reached) {
      const state = this.#states[id]
      if (state && 'set' in state && this.#contains[state.set]?.[kind] === 1) next[state.next] = 1
    }
    return this.#placeOf(next, this.#besideOf(kind))
  }

  /** The states that can be reached without reading a character. */
  #reached({ states, before }: Place, after: Beside): readonly number[] {
    const found = [...states]
    const seen = new Uint8Array(this.#states.length)
    for (const id of found) seen[id] = 1
    const add = (id: number) => {
      if (seen[id] === 0) found.push(id)
      seen[id] = 1
    }
    for (const id of found) {
      const state = this.#states[id]
      if (!state || 'set' in state) continue
      if (!('assertion' in state)) state.next.forEach(add)
      else if (holds(state.assertion, before, after)) add(state.next)
    }
    this.work += found.length
    return found
  }

  /** Returns the place with the marked states. */
  #placeOf(marks: Uint8Array, before: Beside): number {
    const states: number[] = []
    for (let id = 0; id < marks.length; id++) if (marks[id] === 1) states.push(id)
    if (states.length === 0) return failed
    const key = before + String.fromCharCode(...states)
    const known = this.#placeIds.get(key)
    if (known !== undefined) return known
    this.#kept += states.length + this.#starts.length
    if (this.#kept > maxKept) this.#forgetPlaces()
    const after = new Int32Array(this.#starts.length + 1).fill(unknown)
    const id = this.#places.push({ states, before, after }) - 1
    this.#placeIds.set(key, id)
    return id
  }

  #forgetPlaces(): void {
    this.#places = []
    this.#placeIds.clear()
    this.#kept = 0
  }

  #besideOf(kind: number): Beside {
    return this.#looksAround && has(wordCharacters, this.#starts[kind] ?? 0) ? 'word' : 'other'
  }
}

/** The state in which everything has been read. */
const end = 0

function holds(assertion: Assertion, before: Beside, after: Beside): boolean {
  if (assertion === 'start') return before === 'outside'
  if (assertion === 'end') return after === 'outside'
  return ((before === 'word') !== (after === 'word')) === (assertion === 'boundary')
}
