import { hardRows } from '../render/colour.ts'
import type { Key } from '../terminal/keys.ts'
import type { ScreenSize } from './frame.ts'

/** A text that is longer than the window. An immutable state: a key gives the next one, or undefined to close it. */
export interface Pager {
  readonly title: string
  readonly lines: readonly string[]
  readonly top: number
}

export function pressPager(pager: Pager, key: Key, { columns, rows }: ScreenSize): Pager | undefined {
  const length = wrappedLines(pager, columns).length
  const page = Math.max(1, rows - 2)
  const to = (top: number): Pager => ({ ...pager, top: Math.max(0, Math.min(top, length - page)) })
  const letter = key.name === 'text' ? key.text : undefined
  if (key.name === 'escape' || key.name === 'ctrl-c' || letter === 'q') return undefined
  if (key.name === 'down' || key.name === 'enter' || letter === 'j') return to(pager.top + 1)
  if (key.name === 'up' || letter === 'k') return to(pager.top - 1)
  if (key.name === 'page-down' || letter === ' ') return to(pager.top + page)
  if (key.name === 'page-up' || letter === 'b') return to(pager.top - page)
  if (key.name === 'home' || letter === 'g') return to(0)
  if (key.name === 'end' || letter === 'G') return to(length)
  const wheel = key.name === 'mouse' ? /^\u001b\[<(64|65);/.exec(key.text ?? '')?.[1] : undefined
  return wheel === undefined ? pager : to(pager.top + (wheel === '65' ? 3 : -3))
}

/** Returns the rows between the title and the keys, and how far the text was shown, in percent. */
export function pagerRows(
  pager: Pager,
  { columns, rows }: ScreenSize,
): { readonly rows: readonly string[]; readonly percent: number } {
  const lines = wrappedLines(pager, columns)
  const page = Math.max(1, rows - 2)
  const shown = lines.slice(pager.top, pager.top + page)
  const end = Math.min(lines.length, pager.top + page)
  return { rows: shown, percent: lines.length === 0 ? 100 : Math.floor((end / lines.length) * 100) }
}

/** The rows of a text are computed once for each width. */
function wrappedLines(pager: Pager, columns: number): readonly string[] {
  const known = wrapped.get(pager.lines)
  if (known?.columns === columns) return known.rows
  const rows = pager.lines.flatMap((line) => hardRows(line, columns))
  wrapped.set(pager.lines, { columns, rows })
  return rows
}

const wrapped = new WeakMap<
  readonly string[],
  { readonly columns: number; readonly rows: readonly string[] }
>()
