import { natural, object } from '../schema.ts'
import type { Infer } from '../schema.ts'

const textPosition = { line: natural, character: natural }
/** A zero-based position. `character` counts UTF-16 code units, as JavaScript strings do. */
export interface TextPosition extends Infer<typeof textPosition> {}
export const TextPosition = object<TextPosition>('TextPosition', textPosition)

const textRange = { start: TextPosition, end: TextPosition }
/** The text from `start` up to, but not including, `end`. */
export interface TextRange extends Infer<typeof textRange> {}
export const TextRange = object<TextRange>('TextRange', textRange)

const textSelection = { range: TextRange }
export interface TextSelection extends Infer<typeof textSelection> {}
export const TextSelection = object<TextSelection>('TextSelection', textSelection)

/**
 * The offset of a position, in UTF-16 code units. A position behind the end of its line counts as the end of the
 * line. A position behind the last line counts as the end of the text.
 */
export function offsetAt(text: string, position: TextPosition): number {
  let start = 0
  for (let line = 0; line < position.line; line++) {
    const next = nextLine(text, start)
    if (next === undefined) return text.length
    start = next
  }
  return Math.min(start + position.character, endOfLine(text, start))
}

/** The position of an offset. An offset inside a line break counts as the end of that line. */
export function positionAt(text: string, offset: number): TextPosition {
  const target = Math.max(0, Math.min(offset, text.length))
  let line = 0
  let start = 0
  for (let next = nextLine(text, start); next !== undefined && next <= target; next = nextLine(text, start)) {
    start = next
    line++
  }
  return { line, character: Math.min(target, endOfLine(text, start)) - start }
}

export function textIn(text: string, range: TextRange): string {
  return text.slice(offsetAt(text, range.start), offsetAt(text, range.end))
}

const LF = 10
const CR = 13

function endOfLine(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) !== LF && text.charCodeAt(at) !== CR) at++
  return at
}

/** The start of the next line, or undefined if there is none. `\n`, `\r` and `\r\n` end a line. */
function nextLine(text: string, from: number): number | undefined {
  const end = endOfLine(text, from)
  if (end === text.length) return undefined
  return text.charCodeAt(end) === CR && text.charCodeAt(end + 1) === LF ? end + 2 : end + 1
}
