import { hardRows } from './colour.ts'

/** A place in a list of lines: the first line that was not shown as a whole, and how many rows of it were. */
export interface Place {
  readonly line: number
  readonly rows: number
}

export const start: Place = { line: 0, rows: 0 }

/** The rows that were on the screen together. */
export interface Page {
  readonly rows: readonly string[]
  readonly to: Place
}

/** Returns the page that begins at a place. A line that is wider than the window goes on in the next row. */
export function pageOf(
  lines: readonly string[],
  from: Place,
  { columns, rows: room }: { readonly columns: number; readonly rows: number },
): Page {
  const rows: string[] = []
  let [line, skip] = [from.line, from.rows]
  for (; line < lines.length && rows.length < room; line++) {
    const all = hardRows(lines[line] ?? '', columns).slice(skip)
    const shown = all.slice(0, room - rows.length)
    rows.push(...shown)
    if (shown.length < all.length) return { rows, to: { line, rows: skip + shown.length } }
    skip = 0
  }
  return { rows, to: { line, rows: 0 } }
}

/** Returns the number of lines that were not yet on the screen as a whole. */
export function unseen(lines: readonly string[], { line }: Place): number {
  return lines.length - line
}
