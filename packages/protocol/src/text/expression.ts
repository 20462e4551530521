import { limits } from '../limits.ts'
import { Automaton, failed, matched } from './automaton.ts'
import { ExpressionProblem, parseExpression } from './expression-tree.ts'

/** A compiled regular expression, or why it cannot be compiled: a clause for users and models. */
export type Compiled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/** A line that matches: its number, from 1, and where it is in the text. The end of the line is not part of it. */
export interface MatchingLine {
  readonly line: number
  readonly from: number
  readonly to: number
}

/**
 * Finds the lines of a text that have a match. Yields `undefined` after each piece of work, so that a caller can let others
 * run, or stop.
 */
export type LineFinder = (text: string, pieceOfWork: number) => Iterable<MatchingLine | undefined>

/** Compiles a regular expression for a search. `^` and `$` are the ends of a line, and `.` does not match the end of one. */
export function lineFinder(expression: string, ignoreCase = false): Compiled<LineFinder> {
  return compiled(
    expression,
    ignoreCase,
    false,
    (automaton) => (text, piece) => matchingLines(automaton, text, piece),
  )
}

/** Compiles a regular expression that must match a whole text. */
export function wholeMatcher(expression: string): Compiled<(text: string) => boolean> {
  return compiled(expression, false, true, (automaton) => (text) => matchesWhole(automaton, text))
}

/**
 * Makes an automaton from an expression. The regular expressions of the platform are not used, because they can take
 * exponential time, and the expression comes from a model or a plugin (S-25).
 */
function compiled<T>(
  expression: string,
  ignoreCase: boolean,
  anchored: boolean,
  use: (automaton: Automaton) => T,
): Compiled<T> {
  const { globLength, expressionStates } = limits
  if (expression.length > globLength)
    return { ok: false, problem: `it has more than ${globLength} characters` }
  try {
    const tree = parseExpression(expression, ignoreCase, expressionStates)
    return { ok: true, value: use(new Automaton(tree, anchored)) }
  } catch (error) {
    if (error instanceof ExpressionProblem) return { ok: false, problem: error.message }
    throw error
  }
}

function* matchingLines(
  automaton: Automaton,
  text: string,
  pieceOfWork: number,
): Generator<MatchingLine | undefined> {
  let stopAt = automaton.work + pieceOfWork
  for (let line = 1, from = 0; from <= text.length; line++) {
    let place = automaton.start()
    let at = from
    while (place !== matched && !isLineEnd(text, at)) {
      const code = text.codePointAt(at) ?? 0
      at += code > 0xffff ? 2 : 1
      place = automaton.step(place, code)
      if (automaton.work < stopAt) continue
      yield undefined
      stopAt = automaton.work + pieceOfWork
    }
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    if (place === matched || automaton.endsAt(place)) {
      yield { line, from, to: text[end - 1] === '\r' && end > from && newline >= 0 ? end - 1 : end }
      stopAt = automaton.work + pieceOfWork
    }
    // A text that ends with a newline has no further, empty line.
    if (newline < 0 || end + 1 === text.length) return
    from = end + 1
  }
}

/** Whether a line ends before this character: a newline, perhaps with a carriage return, or the end of the text. */
function isLineEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 10 || (code === 13 && text.charCodeAt(at + 1) === 10) || at >= text.length
}

function matchesWhole(automaton: Automaton, text: string): boolean {
  let place = automaton.start()
  for (const character of text) {
    place = automaton.step(place, character.codePointAt(0) ?? 0)
    if (place === failed) return false
  }
  return automaton.endsAt(place)
}
