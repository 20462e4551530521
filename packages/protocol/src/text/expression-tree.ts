import {
  complement,
  digits,
  inBothCases,
  lineCharacters,
  setOf,
  spaces,
  wordCharacters,
} from './character-set.ts'
import type { CharacterSet } from './character-set.ts'

/** A parsed regular expression. `size` is the number of states of its automaton, at most. */
export type Tree = { readonly size: number } & (
  | { readonly set: CharacterSet }
  | { readonly sequence: readonly Tree[] }
  | { readonly either: readonly Tree[] }
  | { readonly repeated: Tree; readonly min: number; readonly max: number }
  | { readonly assertion: Assertion }
)

/** A condition on a place between two characters. `boundary`: a word begins or ends there. */
export type Assertion = 'start' | 'end' | 'boundary' | 'no boundary'

/** The problem of an expression that cannot be used. The message is a clause for users and models. */
export class ExpressionProblem extends Error {}

/**
 * Parses an expression in the syntax of JavaScript, without the parts that an automaton cannot have: back references and
 * lookaround. An expression may begin with `(?i)`. Throws an `ExpressionProblem`.
 */
export function parseExpression(text: string, ignoreCase: boolean, maxSize: number): Tree {
  const [, rest = text] = /^\(\?i\)([^]*)$/.exec(text) ?? []
  const reader = new Reader(rest, ignoreCase || rest.length < text.length, maxSize)
  const tree = reader.either(0)
  if (!reader.done) throw new ExpressionProblem('there is a ")" without a "("')
  return tree
}

class Reader {
  readonly #text: string
  readonly #ignoreCase: boolean
  readonly #maxSize: number
  #at = 0

  constructor(text: string, ignoreCase: boolean, maxSize: number) {
    this.#text = text
    this.#ignoreCase = ignoreCase
    this.#maxSize = maxSize
  }

  get done(): boolean {
    return this.#at === this.#text.length
  }

  /** Reads alternatives with `|` between them, up to the end of the text or of the group. */
  either(depth: number): Tree {
    const either: Tree[] = []
    do either.push(this.#sequence(depth))
    while (this.#took('|'))
    const [only] = either
    return only && either.length === 1 ? only : this.#sized({ either }, 1 + sizeOf(either))
  }

  #sequence(depth: number): Tree {
    const sequence: Tree[] = []
    while (!this.done && this.#next !== '|' && this.#next !== ')') sequence.push(this.#repeated(depth))
    return this.#sized({ sequence }, Math.max(1, sizeOf(sequence)))
  }

  #repeated(depth: number): Tree {
    const tree = this.#atom(depth)
    const count = this.#count()
    if (!count) return tree
    const { min, max } = count
    if ('assertion' in tree || this.#count()) throw new ExpressionProblem(nothingToRepeat)
    if (min > max) throw new ExpressionProblem(`the numbers of {${min},${max}} are in the wrong order`)
    const optional = max === Infinity ? 1 : max - min
    return this.#sized({ repeated: tree, min, max }, 1 + min * tree.size + optional * (tree.size + 1))
  }

  /**
   * Reads a quantifier such as `*` or `{2,3}`. Undefined if there is none. A `?` that makes it lazy is skipped,
   * because only the existence of a match counts.
   */
  #count(): { readonly min: number; readonly max: number } | undefined {
    const [whole, sign, least = '', comma, most = ''] = countPattern.exec(this.#text.slice(this.#at)) ?? []
    if (whole === undefined) return undefined
    this.#at += whole.length
    this.#took('?')
    if (sign === '*') return { min: 0, max: Infinity }
    if (sign === '+') return { min: 1, max: Infinity }
    if (sign === '?') return { min: 0, max: 1 }
    const min = Number(least)
    return { min, max: comma === undefined ? min : most === '' ? Infinity : Number(most) }
  }

  #atom(depth: number): Tree {
    if (countPattern.test(this.#text.slice(this.#at, this.#at + 32)))
      throw new ExpressionProblem(nothingToRepeat)
    if (this.#took('(')) return this.#group(depth)
    if (this.#took('[')) return this.#set(this.#brackets())
    if (this.#took('.')) return this.#set(lineCharacters)
    if (this.#took('^')) return { assertion: 'start', size: 1 }
    if (this.#took('$')) return { assertion: 'end', size: 1 }
    const boundary = /^\\[bB]/.exec(this.#text.slice(this.#at, this.#at + 2))?.[0]
    if (boundary === undefined) return this.#set(this.#character())
    this.#at += 2
    return { assertion: boundary === '\\b' ? 'boundary' : 'no boundary', size: 1 }
  }

  #group(depth: number): Tree {
    const from = this.#at
    if (depth >= maxDepth) throw new ExpressionProblem(`more than ${maxDepth} groups are nested`)
    if (this.#next === '?') {
      const [kind] = /^\?(?::|P?<[A-Za-z_]\w*>)/.exec(this.#text.slice(this.#at)) ?? []
      if (kind === undefined) throw new ExpressionProblem(groupProblem(this.#text.slice(this.#at)))
      this.#at += kind.length
    }
    const tree = this.either(depth + 1)
    if (!this.#took(')')) throw new ExpressionProblem(`the "(" at character ${from} is not closed`)
    return tree
  }

  #brackets(): CharacterSet {
    const from = this.#at
    const negated = this.#took('^')
    if (this.#next === ']')
      throw new ExpressionProblem('a set of characters is empty; write \\] for a bracket')
    let set: CharacterSet = []
    while (!this.#took(']')) {
      if (this.done) throw new ExpressionProblem(`the "[" at character ${from} is not closed`)
      if (/^\[[:.=]/.test(this.#text.slice(this.#at)))
        throw new ExpressionProblem('named sets like [:alpha:] are not supported')
      set = setOf([...set, ...this.#rangeOrCharacter()])
    }
    const whole = this.#ignoreCase ? inBothCases(set) : set
    return negated ? complement(whole) : whole
  }

  #rangeOrCharacter(): CharacterSet {
    const low = this.#character(true)
    const after = this.#text[this.#at + 1]
    if (this.#next !== '-' || after === ']' || after === undefined) return low
    this.#at++
    const high = this.#character(true)
    const [from, to] = [onlyCode(low), onlyCode(high)]
    // A dash beside a class such as \w is a dash.
    if (from === undefined || to === undefined) return setOf([...low, [45, 45], ...high])
    if (from > to) throw new ExpressionProblem('a range of characters is in the wrong order')
    return [[from, to]]
  }

  /** Reads one character, or a class of characters such as `\w`. */
  #character(inBrackets = false): CharacterSet {
    const code = this.#text.codePointAt(this.#at) ?? 0
    const c = String.fromCodePoint(code)
    this.#at += c.length
    return c === '\\' ? this.#escape(inBrackets) : [[code, code]]
  }

  #escape(inBrackets: boolean): CharacterSet {
    if (this.done) throw new ExpressionProblem('the last "\\" escapes nothing')
    const [hexadecimal, ...digitsOf] =
      /^(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\})/i.exec(this.#text.slice(this.#at)) ?? []
    if (hexadecimal !== undefined) {
      this.#at += hexadecimal.length
      const code = Number.parseInt(digitsOf.find((each) => each !== undefined) ?? '', 16)
      return [[code, code]]
    }
    const code = this.#text.codePointAt(this.#at) ?? 0
    const c = String.fromCodePoint(code)
    this.#at += c.length
    const named = classes.get(c)
    if (named) return named
    const control = inBrackets && c === 'b' ? 8 : controls.get(c)
    if (control !== undefined && !(c === '0' && /\d/.test(this.#next))) return [[control, control]]
    if (/\d|k/.test(c)) throw new ExpressionProblem('back references are not supported')
    if (/[A-Za-z]/.test(c)) throw new ExpressionProblem(`\\${c} is not supported`)
    return [[code, code]]
  }

  #set(set: CharacterSet): Tree {
    return { set: this.#ignoreCase ? inBothCases(set) : set, size: 1 }
  }

  #sized<T extends object>(tree: T, size: number): T & { readonly size: number } {
    if (size > this.#maxSize) throw new ExpressionProblem('its repetitions are too many')
    return { ...tree, size }
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

/** A sign of repetition. A brace that begins none is an ordinary character, as in `if (x) {`. */
const countPattern = /^(?:([*+?])|\{(\d{1,9})(,(\d{1,9})?)?\})/
const nothingToRepeat = 'there is nothing to repeat before a "*", "+", "?" or "{"'
/**
 * The most levels of groups. There is a limit because the parser calls itself for each group. Real expressions have
 * few levels.
 */
const maxDepth = 100

const classes: ReadonlyMap<string, CharacterSet> = new Map([
  ['d', digits],
  ['D', complement(digits)],
  ['w', wordCharacters],
  ['W', complement(wordCharacters)],
  ['s', spaces],
  ['S', complement(spaces)],
])
const controls: ReadonlyMap<string, number> = new Map([
  ['0', 0],
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
])

function sizeOf(trees: readonly Tree[]): number {
  return trees.reduce((sum, { size }) => sum + size, 0)
}

function onlyCode(set: CharacterSet): number | undefined {
  const [range] = set
  return set.length === 1 && range?.[0] === range?.[1] ? range?.[0] : undefined
}

function groupProblem(rest: string): string {
  return /^\?<?[=!]/.test(rest)
    ? 'lookahead and lookbehind are not supported'
    : 'a group begins with an unknown "(?"; flags are supported only as (?i) at the very beginning'
}
