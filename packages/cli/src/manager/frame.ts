import { blank, cellsOf } from './cells.ts'
import type { Cell } from './cells.ts'
import type { Cursor } from '../render/pane.ts'

/** What a full screen shows: its rows from the top, and the place of the cursor. Without a place, the cursor is hidden. */
export interface Frame {
  readonly rows: readonly string[]
  readonly cursor?: Cursor | undefined
}

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

type Grid = readonly (readonly Cell[])[]

/** Turns each frame into the shortest output that changes the screen from the frame before it: only cells that differ. */
export class FrameWriter {
  #grid: Grid = []
  #size: ScreenSize = { columns: 0, rows: 0 }
  #cursor: Cursor | undefined

  /** Forgets what is on the screen, so that the next frame is written whole. */
  forget(): void {
    this.#size = { columns: 0, rows: 0 }
  }

  write(frame: Frame, size: ScreenSize): string {
    const fresh = size.columns !== this.#size.columns || size.rows !== this.#size.rows
    const before = fresh ? [] : this.#grid
    const grid = Array.from({ length: size.rows }, (_, at) => cellsOf(frame.rows[at] ?? '', size.columns))
    this.#grid = grid
    this.#size = size
    const changed = grid.map((row, at) => rowOutput(before[at] ?? [], row, at)).join('')
    const moved = fresh || changed !== '' || !samePlace(frame.cursor, this.#cursor)
    this.#cursor = frame.cursor
    if (!moved) return ''
    const clear = fresh ? '\u001b[0m\u001b[2J' : ''
    // A terminal that knows mode 2026 shows the whole frame at once; others ignore it.
    return `\u001b[?2026h\u001b[?25l${clear}${changed}${placed(frame.cursor)}\u001b[?2026l`
  }
}

function placed(cursor: Cursor | undefined): string {
  return cursor ? `\u001b[${cursor.row + 1};${cursor.column + 1}H\u001b[?25h` : ''
}

function samePlace(one: Cursor | undefined, other: Cursor | undefined): boolean {
  return one?.row === other?.row && one?.column === other?.column
}

/** Returns the output for the cells of a row that differ. A row that was never drawn counts as blank. */
function rowOutput(before: readonly Cell[], row: readonly Cell[], at: number): string {
  let out = ''
  let style = ''
  let place = -1
  for (const [column, cell] of row.entries()) {
    // The second cell of a wide character is written with the first.
    if (cell.text === '' || !differs(before, row, column)) continue
    const here = `\u001b[${at + 1};${column + 1}H`
    if (place !== column) out += here
    if (style !== cell.style) out += `\u001b[0${cell.style === '' ? '' : `;${cell.style}`}m`
    style = cell.style
    const isWide = row[column + 1]?.text === ''
    // Terminals disagree about the width of some characters, so both columns are blank before and the next cell has its place.
    out += isWide ? `  ${here}${cell.text}` : cell.text
    place = isWide ? -1 : column + 1
  }
  return style === '' ? out : `${out}\u001b[0m`
}

/** Whether a cell must be written: it, or the second half of its wide character, has changed, now or before. */
function differs(before: readonly Cell[], row: readonly Cell[], column: number): boolean {
  const isWide = row[column + 1]?.text === ''
  return cellDiffers(before, row, column) || (isWide && cellDiffers(before, row, column + 1))
}

function cellDiffers(before: readonly Cell[], row: readonly Cell[], column: number): boolean {
  const [old, now] = [before[column] ?? blank, row[column] ?? blank]
  return old.text !== now.text || old.style !== now.style
}
