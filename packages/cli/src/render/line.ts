import type { Key } from '../terminal/keys.ts'
import { sanitize } from '../terminal/output.ts'
import { widthOf } from './table.ts'

/** A line of input with a cursor. */
export interface Line {
  readonly text: string
  /** The index of the cursor. */
  readonly at: number
}

export const emptyLine: Line = { text: '', at: 0 }

export function lineOf(text: string): Line {
  return { text, at: text.length }
}

/** Applies a key to a line. Returns undefined for a key that does not edit. */
export function pressLine({ text, at }: Line, key: Key): Line | undefined {
  const [before, behind] = [text.slice(0, at), text.slice(at)]
  switch (key.name) {
    case 'text':
    case 'paste': {
      const typed = before + (key.text ?? '')
      return { text: typed + behind, at: typed.length }
    }
    case 'backspace': {
      const left = before.slice(0, -lastLength(before))
      return at === 0 ? { text, at } : { text: left + behind, at: left.length }
    }
    case 'delete':
      return { text: before + behind.slice(firstLength(behind)), at }
    case 'left':
      return { text, at: at - (at === 0 ? 0 : lastLength(before)) }
    case 'right':
      return { text, at: at + firstLength(behind) }
    case 'home':
      return { text, at: 0 }
    case 'end':
      return { text, at: text.length }
    case 'ctrl-u':
      return { text: behind, at: 0 }
    case 'ctrl-k':
      return { text: before, at }
    case 'ctrl-w': {
      const left = before.replace(/\S*\s*$/, '')
      return { text: left + behind, at: left.length }
    }
    default:
      return undefined
  }
}

/** Returns the part of a line around the cursor that fits into `columns` columns, and the column of the cursor. */
export function shownLine(
  { text, at }: Line,
  columns: number,
): { readonly text: string; readonly column: number } {
  const letters = [...graphemes.segment(text)].map(({ segment, index }) => ({
    index,
    shown: segment === '\n' || segment === '\r\n' ? '⏎' : sanitize(segment).replaceAll('\t', ' '),
  }))
  const found = letters.findIndex(({ index }) => index >= at)
  const cursor = found < 0 ? letters.length : found
  let from = cursor
  let column = 0
  // One column is for the cursor itself.
  for (; from > 0; from--) {
    const width = widthOf(letters[from - 1]?.shown ?? '')
    if (column + width > columns - 1) break
    column += width
  }
  let shown = ''
  let width = 0
  for (const letter of letters.slice(from)) {
    width += widthOf(letter.shown)
    if (width > columns - 1) break
    shown += letter.shown
  }
  return { text: shown, column }
}

/** One letter on the screen may consist of several code points. */
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

function firstLength(text: string): number {
  const [first] = graphemes.segment(text.slice(0, 64))
  return first?.segment.length ?? 0
}

function lastLength(text: string): number {
  return [...graphemes.segment(text.slice(-64))].at(-1)?.segment.length ?? 0
}
