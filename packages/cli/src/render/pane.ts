import { colourAfter, pieces, reset } from './colour.ts'
import { WordWrap } from './word-wrap.ts'
import { widthOf } from './table.ts'

export interface Surface {
  /** Writes payload to stdout. */
  out(text: string): void
  /** Writes notes and status rows to stderr. */
  err(text: string): void
  readonly columns: () => number
  readonly rows: () => number
  /** Whether stdout and stderr are the same terminal. */
  readonly shared: boolean
  /** Whether stderr is a terminal that can move its cursor. */
  readonly moves: boolean
}

export interface Cursor {
  readonly row: number
  readonly column: number
}

/**
 * A terminal with permanent text and, below it, a few temporary rows: the input line, a prompt, a status. Only the
 * temporary rows and the last, unfinished row of text are ever drawn again.
 */
export class Pane {
  readonly #surface: Surface
  /** The unfinished last line of text. It begins with the colour codes that are on at its start. */
  #partial = ''
  #rows: readonly string[] = []
  #cursor: Cursor | undefined

  constructor(surface: Surface) {
    this.#surface = surface
  }

  get moves(): boolean {
    return this.#surface.moves
  }

  get columns(): number {
    return Math.max(20, this.#surface.columns())
  }

  /** The number of rows of the window. */
  get height(): number {
    return Math.max(6, this.#surface.rows())
  }

  /** Appends text, which may end in the middle of a line. */
  text(piece: string): void {
    if (piece === '') return
    const { shared, out } = this.#surface
    if (!shared) return out(piece)
    const rows = this.#rows
    const head = this.#erase()
    const lines = (this.#partial + piece).split('\n')
    const last = lines.pop() ?? ''
    this.#partial = colourAfter(lines.join('')) + last
    out(head + piece)
    this.#draw(rows, this.#cursor)
  }

  /** Writes a note on a line of its own. */
  note(line: string): void {
    const rows = this.#rows
    const head = this.#erase()
    const shown = this.moves ? wrapped(line, this.columns) : line
    this.#surface.err(`${head}${this.#ended()}${shown}\n`)
    this.#draw(rows, this.#cursor)
  }

  /** Ends an unfinished line of text. */
  endLine(): void {
    if (this.#partial !== '') this.text('\n')
  }

  /** Replaces the temporary rows. */
  show(rows: readonly string[], cursor?: Cursor): void {
    if (!this.moves) return
    if (rows.join('\n') === this.#rows.join('\n') && same(cursor, this.#cursor)) return
    const head = this.#erase()
    if (rows.length === 0) this.#surface.err(head)
    this.#draw(rows, cursor, rows.length === 0 ? '' : head)
  }

  /** Redraws the temporary rows for the new width of the window. */
  resized(): void {
    const rows = this.#rows
    const head = this.#erase()
    this.#draw(rows, this.#cursor, head)
  }

  /** Clears the window, except for the temporary rows and the unfinished line. */
  clear(): void {
    const rows = this.#rows
    this.#rows = []
    this.#draw(rows, this.#cursor, `\u001b[H\u001b[2J${tailOf(this.#partial, this.columns)}`)
  }

  #ended(): string {
    const ends = this.#partial === '' ? '' : `${reset(this.#partial)}\n`
    this.#partial = ''
    return ends
  }

  /** Returns the sequence that erases the temporary rows and writes the unfinished line again. */
  #erase(): string {
    const rows = this.#rows
    if (rows.length === 0) return ''
    const { columns } = this
    const at = this.#cursor ?? endOf(rows)
    const above = rows.slice(0, at.row).reduce((sum, row) => sum + heightOf(row, columns), 0)
    // When a window becomes narrower, some terminals wrap the row of the cursor and others do not. The code assumes that
    // the row was not wrapped: an old row that stays visible does less harm than a lost row of text.
    const up = above + (this.#partial === '' ? 0 : 1)
    this.#rows = []
    // If the terminal has wrapped a long line, only the last row of that line is written again.
    this.#partial = tailOf(this.#partial, columns)
    return `${up > 0 ? `\u001b[${up}A` : ''}\r\u001b[J${this.#partial}`
  }

  #draw(rows: readonly string[], cursor: Cursor | undefined, head = ''): void {
    this.#rows = rows
    this.#cursor = cursor
    if (rows.length === 0) return
    const { columns } = this
    // No row may wrap, because the cursor later moves back up by the number of rows.
    const shown = rows.map((row) => cut(row.replaceAll(/[\n\t]/g, ' '), columns - 1))
    this.#rows = shown
    const down = this.#partial === '' ? '' : `${reset(this.#partial)}\n`
    const up = cursor ? shown.length - 1 - cursor.row : 0
    const place = cursor
      ? `\r${up > 0 ? `\u001b[${up}A` : ''}${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}`
      : ''
    this.#surface.err(head + down + shown.join('\n') + place)
  }
}

function same(one: Cursor | undefined, other: Cursor | undefined): boolean {
  return one?.row === other?.row && one?.column === other?.column
}

function endOf(rows: readonly string[]): Cursor {
  return { row: rows.length - 1, column: Math.max(0, widthOf(rows.at(-1) ?? '') - 1) }
}

function heightOf(row: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(row) / columns))
}

/** Returns the last row of a line that the terminal has wrapped, with its colour codes. */
function tailOf(line: string, columns: number): string {
  let from = 0
  let column = 0
  for (const { 0: piece, index } of line.matchAll(pieces)) {
    const width = widthOf(piece)
    if (column + width > columns) {
      from = index
      column = 0
    }
    column += width
  }
  return from === 0 ? line : colourAfter(line.slice(0, from)) + line.slice(from)
}

/** Wraps a line between words. An indented line stays as it is: it may be code. */
function wrapped(line: string, columns: number): string {
  if (widthOf(line) <= columns || /^( |\u001b\[\d+m )/.test(line)) return line
  const wrap = new WordWrap(() => columns)
  for (const [piece] of line.matchAll(pieces)) {
    if (piece.length > 2) wrap.code(piece)
    else wrap.put(piece)
  }
  wrap.endWord()
  return wrap.take()
}

/** Cuts a row to at most `columns` columns. A row that was cut ends with an ellipsis. */
export function cut(row: string, columns: number): string {
  if (widthOf(row) <= columns) return row
  let shown = ''
  let width = 0
  for (const [piece] of row.matchAll(pieces)) {
    width += widthOf(piece)
    if (width > columns - 1) break
    shown += piece
  }
  return `${shown}…${reset(shown)}`
}
