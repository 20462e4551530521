import { pieces } from '../render/colour.ts'
import { widthOf } from '../render/table.ts'

/** One column of a terminal row. A wide character has two: the second has no text. */
export interface Cell {
  readonly text: string
  /** The SGR parameters that are on, for example `1;31`. */
  readonly style: string
}

export const blank: Cell = { text: ' ', style: '' }

/** Returns a styled row as exactly `columns` cells: cut at the right, filled up with blanks. */
export function cellsOf(row: string, columns: number): readonly Cell[] {
  const cells: Cell[] = []
  const on = new Map<string, string>()
  let style = ''
  for (const [piece] of row.matchAll(pieces)) {
    if (piece.length > 1 && piece.startsWith('\u001b')) {
      change(on, piece.slice(2, -1))
      style = [...on.values()].join(';')
      continue
    }
    const width = widthOf(piece)
    if (width === 0) {
      append(cells, piece)
      continue
    }
    if (cells.length + width > columns) break
    cells.push({ text: piece, style })
    if (width === 2) cells.push({ text: '', style })
  }
  while (cells.length < columns) cells.push({ text: ' ', style })
  return cells
}

/** Adds a combining mark to the last character. */
function append(cells: Cell[], mark: string): void {
  const last = cells.findLastIndex(({ text }) => text !== '')
  const before = cells[last]
  if (before) cells[last] = { ...before, text: before.text + mark }
}

/** Applies one SGR sequence: each kind of attribute replaces the earlier one of its kind. */
function change(on: Map<string, string>, parameters: string): void {
  for (const code of parameters.split(';')) {
    const kind = kinds.find(([pattern]) => pattern.test(code))?.[1]
    if (kind === undefined) on.clear()
    else if (ends.has(code)) on.delete(kind)
    else on.set(kind, code)
    if (code === '22') on.delete('dim')
  }
}

const kinds: readonly (readonly [RegExp, string])[] = [
  [/^(1|22)$/, 'bold'],
  [/^2$/, 'dim'],
  [/^(7|27)$/, 'inverse'],
  [/^(3\d|9[0-7])$/, 'colour'],
]
const ends = new Set(['22', '27', '39'])
