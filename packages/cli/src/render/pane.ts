import { Flow } from './flow.ts'
import { widthOf } from './table.ts'

export interface Surface {
  /** The payload. */
  out(text: string): void
  /** Everything about it, and what comes and goes below. */
  err(text: string): void
  readonly columns: () => number
  /** Both are the same terminal. */
  readonly shared: boolean
  /** It can move its cursor: not where nobody looks, and not on a terminal that only prints. */
  readonly moves: boolean
}

export interface Cursor {
  readonly row: number
  readonly column: number
}

/**
 * What was said goes up and stays; below it are a few rows that come and go: what is being typed, what is asked, how it
 * goes. Only those are ever drawn again, and the row that text is still being added to.
 */
export class Pane {
  readonly #surface: Surface
  /** The line that text is still being added to, with the colours that it began in. */
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

  /** More of what is being said. */
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

  /** A line of its own, about what is said. */
  note(line: string): void {
    const rows = this.#rows
    const head = this.#erase()
    const shown = this.moves ? wrapped(line, this.columns) : line
    this.#surface.err(`${head}${this.#ended()}${shown}\n`)
    this.#draw(rows, this.#cursor)
  }

  /** What is said next begins a line. */
  fresh(): void {
    if (this.#partial !== '') this.text('\n')
  }

  /** The rows below, in place of those that were there. */
  show(rows: readonly string[], cursor?: Cursor): void {
    if (!this.moves) return
    if (rows.join('\n') === this.#rows.join('\n') && same(cursor, this.#cursor)) return
    const head = this.#erase()
    if (rows.length === 0) this.#surface.err(head)
    this.#draw(rows, cursor, rows.length === 0 ? '' : head)
  }

  /** Drawn again as wide as the window is now. */
  resized(): void {
    const rows = this.#rows
    const head = this.#erase()
    this.#draw(rows, this.#cursor, head)
  }

  /** Everything of the window but what is below. */
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

  /** From the cursor up to the first row below and away; then the row that is being written, as it was. */
  #erase(): string {
    const rows = this.#rows
    if (rows.length === 0) return ''
    const { columns } = this
    const at = this.#cursor ?? endOf(rows)
    const above = rows.slice(0, at.row).reduce((sum, row) => sum + heightOf(row, columns), 0)
    // A window that has become narrower may have broken the row of the cursor too, or not: terminals differ. A row that is left
    // standing is a smaller harm than one that is gone.
    const up = above + (this.#partial === '' ? 0 : 1)
    this.#rows = []
    // Written again, it is a line of its own for the terminal, and not the end of the row above it.
    this.#partial = tailOf(this.#partial, columns)
    return `${up > 0 ? `\u001b[${up}A` : ''}\r\u001b[J${this.#partial}`
  }

  #draw(rows: readonly string[], cursor: Cursor | undefined, head = ''): void {
    this.#rows = rows
    this.#cursor = cursor
    if (rows.length === 0) return
    const { columns } = this
    // Nothing may wrap by itself: the way back up is counted in rows.
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

// oxlint-disable-next-line no-control-regex
const colour = /\u001b\[([0-9;]*)m/g

/** The colours that are on behind a text. */
function colourAfter(text: string): string {
  let on: string[] = []
  for (const [sequence, code = ''] of text.matchAll(colour)) {
    if (code === '' || code === '0') on = []
    else if (code === '22') on = on.filter((each) => !/\[[12]m/.test(each))
    else if (code === '39') on = on.filter((each) => !/\[3\dm/.test(each))
    else on.push(sequence)
  }
  return on.join('')
}

function reset(text: string): string {
  return colourAfter(text) === '' ? '' : '\u001b[0m'
}

/** Of a line that the terminal has broken, what stands in its last row, in its colours. */
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

/** Broken between words; what is indented is as it is, for it may be code. */
function wrapped(line: string, columns: number): string {
  if (widthOf(line) <= columns || /^( |\u001b\[\d+m )/.test(line)) return line
  const flow = new Flow(() => columns)
  for (const [piece] of line.matchAll(pieces)) {
    if (piece.length > 2) flow.code(piece)
    else flow.put(piece)
  }
  flow.endWord()
  return flow.take()
}

/** Without what would not fit into so many columns. */
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

// oxlint-disable-next-line no-control-regex
const pieces = /\u001b\[[0-9;]*m|[^]/gu
