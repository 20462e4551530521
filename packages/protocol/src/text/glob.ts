import { limits } from '../limits.ts'

/**
 * Globs over slash-separated paths: `*` `?` `[a-z]` `[!a]` inside one segment, `**` across segments, `{a,b}` for
 * alternatives, `\` before a literal character. A pattern becomes a nondeterministic state machine, which reads the
 * path once. The time is therefore at most proportional to pattern length times path length, for every pattern.
 */
export type Glob = (path: string) => boolean

/** Compiles a pattern. Returns `undefined` when the pattern is malformed or too long. */
export function glob(pattern: string): Glob | undefined {
  if (pattern.length > limits.globLength) return undefined
  const machine = new Machine()
  const reader = new Reader(pattern)
  const tree = reader.sequence(0)
  if (!tree || !reader.done) return undefined
  const start = machine.add(tree, machine.end)
  return (path) => machine.accepts(start, path)
}

type Test = (code: number) => boolean
type Node =
  | { readonly one: Test }
  | { readonly many: Test }
  | { readonly folders: true }
  | { readonly either: readonly Sequence[] }
type Sequence = readonly Node[]

const slash = 47
const anything: Test = () => true
const withinSegment: Test = (code) => code !== slash

class Reader {
  readonly #pattern: string
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  get done(): boolean {
    return this.#at === this.#pattern.length
  }

  /** Reads up to the end of the pattern or, inside braces, up to the comma or brace that ends the alternative. */
  sequence(depth: number, opening = true): Sequence | undefined {
    const nodes: Node[] = []
    // Whether a segment begins at this position. `**` matches whole folders only at the beginning of a segment.
    let opens = opening
    while (!this.done) {
      const c = this.#pattern.charAt(this.#at)
      if (depth > 0 && (c === ',' || c === '}')) break
      this.#at++
      const node = this.#node(c, depth, opens)
      if (!node) return undefined
      nodes.push(node)
      opens = c === '/' || 'folders' in node
    }
    return nodes
  }

  #node(c: string, depth: number, opens: boolean): Node | undefined {
    if (c === '*') return this.#stars(opens)
    if (c === '?') return { one: withinSegment }
    if (c === '[') return this.#set()
    if (c === '{') return this.#braces(depth + 1, opens)
    if (c !== '\\') return literal(c)
    return this.done ? undefined : literal(this.#pattern.charAt(this.#at++))
  }

  #stars(opens: boolean): Node {
    if (this.#pattern.charAt(this.#at) !== '*') return { many: withinSegment }
    while (this.#pattern.charAt(this.#at) === '*') this.#at++
    if (!opens || this.#pattern.charAt(this.#at) !== '/') return { many: anything }
    this.#at++
    return { folders: true }
  }

  #set(): Node | undefined {
    const negated = /[!^]/.test(this.#pattern.charAt(this.#at))
    const from = negated ? this.#at + 1 : this.#at
    // A closing bracket at the first position of a set is a member of the set.
    const close = this.#pattern.indexOf(']', from + 1)
    if (close < 0) return undefined
    this.#at = close + 1
    const ranges = rangesOf(this.#pattern.slice(from, close))
    return {
      one: (code) => code !== slash && ranges.some(([from, to]) => from <= code && code <= to) !== negated,
    }
  }

  #braces(depth: number, opens: boolean): Node | undefined {
    const branches: Sequence[] = []
    for (;;) {
      const branch = this.sequence(depth, opens)
      if (!branch || this.done) return undefined
      branches.push(branch)
      if (this.#pattern.charAt(this.#at++) === '}') return { either: branches }
    }
  }
}

function literal(c: string): Node {
  const wanted = c.charCodeAt(0)
  return { one: (code) => code === wanted }
}

function rangesOf(body: string): readonly (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = []
  for (let i = 0; i < body.length; i++) {
    const from = body.charCodeAt(i)
    const dash = body.charAt(i + 1) === '-' && i + 2 < body.length
    ranges.push([from, dash ? body.charCodeAt(i + 2) : from])
    if (dash) i += 2
  }
  return ranges
}

/** A state consumes one character that passes `test` and goes to `next`, or goes to a `free` state without consuming one. */
interface State {
  readonly test?: Test
  readonly next: number
  readonly free: readonly number[]
}

class Machine {
  readonly #states: State[] = [{ next: -1, free: [] }]
  readonly end = 0

  /** Adds the states for the nodes. The last of these states leads to `next`. Returns the first state. */
  add(nodes: Sequence, next: number): number {
    return nodes.reduceRight((after, node) => this.#node(node, after), next)
  }

  accepts(start: number, path: string): boolean {
    let current = this.#closure([start])
    for (let i = 0; i < path.length && current.length > 0; i++) {
      const code = path.charCodeAt(i)
      const reached: number[] = []
      for (const at of current) {
        const state = this.#states[at]
        if (state?.test?.(code)) reached.push(state.next)
      }
      current = this.#closure(reached)
    }
    return current.includes(this.end)
  }

  #node(node: Node, next: number): number {
    if ('one' in node) return this.#push({ test: node.one, next, free: [] })
    if ('either' in node)
      return this.#push({ next: -1, free: node.either.map((branch) => this.add(branch, next)) })
    if ('many' in node) return this.#loop(node.many, [next])
    // Any number of whole folders: either no text, or a text that ends with a slash.
    const over = this.#push({ test: (code) => code === slash, next, free: [] })
    return this.#push({ next: -1, free: [next, this.#loop(anything, [over])] })
  }

  #loop(test: Test, free: readonly number[]): number {
    return this.#push({ test, next: this.#states.length, free })
  }

  #push(state: State): number {
    return this.#states.push(state) - 1
  }

  #closure(from: readonly number[]): number[] {
    const seen = new Set<number>()
    const stack = [...from]
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      stack.push(...(this.#states[at]?.free ?? []))
    }
    return [...seen]
  }
}
