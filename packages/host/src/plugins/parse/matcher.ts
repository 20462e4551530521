import { limits } from '@atrium/protocol/limits'

/** Whether a whole text matches. */
export type Matcher = (text: string) => boolean

/**
 * Compiles the matcher of a hook: a regular expression of characters, `.`, `[…]`, `\d`, `\w`, `\s`, groups, `|`, `*`, `+` and
 * `?`. Returns undefined for any other expression. A matcher comes from a plugin, which is not trusted, and the regular
 * expressions of the platform can take exponential time (S-25). Therefore the matcher becomes a state machine. Its time is at
 * most proportional to the length of the expression times the length of the text.
 */
export function matcherOf(expression: string): Matcher | undefined {
  if (expression.length > limits.globLength) return undefined
  const reader = new Reader(expression)
  const tree = reader.either()
  if (!tree || !reader.done) return undefined
  const machine = new Machine()
  const start = machine.add(tree, machine.end)
  return (text) => machine.accepts(start, text)
}

type Test = (code: number) => boolean
type Node =
  | { readonly one: Test }
  | { readonly sequence: readonly Node[] }
  | { readonly either: readonly Node[] }
  | { readonly repeated: Node; readonly sign: '*' | '+' | '?' }

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get done(): boolean {
    return this.#at === this.#text.length
  }

  either(): Node | undefined {
    const either: Node[] = []
    do {
      const sequence = this.#sequence()
      if (!sequence) return undefined
      either.push(sequence)
    } while (this.#took('|'))
    return { either }
  }

  #sequence(): Node | undefined {
    const sequence: Node[] = []
    // The whole text must match anyway, so `^` and `$` have no effect.
    this.#took('^')
    while (!this.done && !'|)'.includes(this.#next)) {
      if (this.#next === '$' && '|)'.includes(this.#text[this.#at + 1] ?? '|')) {
        this.#at++
        break
      }
      const one = this.#repeated()
      if (!one) return undefined
      sequence.push(one)
    }
    return { sequence }
  }

  #repeated(): Node | undefined {
    const node = this.#atom()
    const sign = this.#next
    if (!node || (sign !== '*' && sign !== '+' && sign !== '?')) return node
    this.#at++
    return '*+?{'.includes(this.#next || '-') ? undefined : { repeated: node, sign }
  }

  #atom(): Node | undefined {
    if (this.#took('(')) {
      if (this.#took('?') && !this.#took(':')) return undefined
      const node = this.either()
      return this.#took(')') ? node : undefined
    }
    if (this.#took('[')) return this.#set()
    if (this.#took('.')) return { one: () => true }
    if ('*+?{}^$])'.includes(this.#next)) return undefined
    const one = this.#character()
    return one && { one: one.test }
  }

  /** A character, or a class of characters such as `\w`, which has no code of its own. */
  #character(): { readonly test: Test; readonly code?: number } | undefined {
    const escaped = this.#took('\\')
    const c = this.#next
    if (c === '') return undefined
    this.#at++
    const named = escaped ? classes.get(c) : undefined
    if (named) return { test: named }
    // Other escaped letters and digits have meanings that are not supported, such as a reference to a group.
    if (escaped && /[A-Za-z0-9]/.test(c)) return undefined
    const code = c.charCodeAt(0)
    return { test: (other) => other === code, code }
  }

  #set(): Node | undefined {
    const negated = this.#took('^')
    const tests: Test[] = []
    while (!this.#took(']')) {
      const from = this.#character()
      if (!from) return undefined
      const isRange = this.#next === '-' && (this.#text[this.#at + 1] ?? ']') !== ']'
      if (!isRange) {
        tests.push(from.test)
        continue
      }
      this.#at++
      const [low, high] = [from.code, this.#character()?.code]
      if (low === undefined || high === undefined || low > high) return undefined
      tests.push((code) => low <= code && code <= high)
    }
    return { one: (code) => tests.some((test) => test(code)) !== negated }
  }

  get #next(): string {
    return this.#text[this.#at] ?? ''
  }

  #took(c: string): boolean {
    if (this.#next !== c) return false
    this.#at++
    return true
  }
}

const among =
  (pattern: RegExp): Test =>
  (code) =>
    pattern.test(String.fromCharCode(code))
const classes: ReadonlyMap<string, Test> = new Map([
  ['d', among(/\d/)],
  ['w', among(/\w/)],
  ['s', among(/\s/)],
])

/** A state reads one character, or leads to other states without reading. */
type State = { readonly test: Test; readonly next: number } | { readonly next: number[] }

class Machine {
  readonly end = 0
  readonly #states: State[] = [{ next: [] }]

  /** Adds the automaton states for a node of the pattern. The last of them leads to the state `next`. Returns the first one. */
  add(node: Node, next: number): number {
    if ('one' in node) return this.#states.push({ test: node.one, next }) - 1
    if ('sequence' in node) return node.sequence.reduceRight((after, each) => this.add(each, after), next)
    if ('either' in node)
      return this.#states.push({ next: node.either.map((each) => this.add(each, next)) }) - 1
    const ways: number[] = [next]
    const fork = this.#states.push({ next: ways }) - 1
    const first = this.add(node.repeated, node.sign === '?' ? next : fork)
    ways.push(first)
    return node.sign === '+' ? first : fork
  }

  accepts(start: number, text: string): boolean {
    let now = this.#reached([start])
    for (let at = 0; at < text.length && now.size > 0; at++) {
      const next: number[] = []
      for (const id of now) {
        const state = this.#states[id]
        if (state && 'test' in state && state.test(text.charCodeAt(at))) next.push(state.next)
      }
      now = this.#reached(next)
    }
    return now.has(this.end)
  }

  /** The states that can be reached without reading. */
  #reached(from: readonly number[]): ReadonlySet<number> {
    const found = new Set(from)
    for (const id of found) {
      const state = this.#states[id]
      if (state && !('test' in state)) for (const next of state.next) found.add(next)
    }
    return found
  }
}
