import type { Key } from '../terminal/keys.ts'
import { harmless } from '../terminal/output.ts'
import { widthOf } from './table.ts'

/** A line that is being typed. */
export interface Line {
  readonly text: string
  /** Where the next character goes. */
  readonly at: number
}

export const emptyLine: Line = { text: '', at: 0 }

export function lineOf(text: string): Line {
  return { text, at: text.length }
}

/** The line after a key; nothing where the key means nothing to a line. */
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

/** What is seen of a line in so many columns, around the place where it is typed, and where that is. */
export function shownLine(
  { text, at }: Line,
  columns: number,
): { readonly text: string; readonly column: number } {
  const letters = [...graphemes.segment(text)].map(({ segment, index }) => ({
    index,
    shown: segment === '\n' || segment === '\r\n' ? '⏎' : harmless(segment).replaceAll('\t', ' '),
  }))
  const place = letters.findIndex(({ index }) => index >= at)
  const cursor = place < 0 ? letters.length : place
  let from = cursor
  let column = 0
  // One column is kept for the cursor itself.
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

/** What people take for one letter may be several characters. */
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

function firstLength(text: string): number {
  const [first] = graphemes.segment(text.slice(0, 64))
  return first?.segment.length ?? 0
}

function lastLength(text: string): number {
  return [...graphemes.segment(text.slice(-64))].at(-1)?.segment.length ?? 0
}
