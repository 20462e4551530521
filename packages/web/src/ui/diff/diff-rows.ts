import { lineChanges, linesOf } from './line-changes.ts'
import type { LineChange, LineRange } from './line-changes.ts'

/** Two texts, line by line, and where they differ. */
export interface DiffText {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly changes: readonly LineChange[]
}

/** A line on one side. Line numbers begin with 0. */
export interface DiffCell {
  readonly line: number
  readonly text: string
  /** The changed line on the other side that stands for this one, if there is one. */
  readonly other?: string
}

/**
 * A row with a line. An equal line has a cell on both sides. In a split diff, a changed row may have both cells, too.
 */
export interface LineRow {
  readonly kind: 'line'
  readonly same: boolean
  readonly before?: DiffCell
  readonly after?: DiffCell
}

/** Lines that are the same on both sides and are not shown. `from` counts on the later side. */
export interface GapRow {
  readonly kind: 'gap'
  readonly from: number
  readonly count: number
}

/** A row before a change, for the buttons of the change. */
export interface HeadRow {
  readonly kind: 'head'
  /** The index of the change. */
  readonly at: number
}

export type DiffRow = LineRow | GapRow | HeadRow

export interface RowOptions {
  /** Whether the sides stand beside each other. */
  readonly split?: boolean
  /** Whether each change begins with a row of its own. */
  readonly heads?: boolean
  /** Whether a line of the later side is shown though it is far from every change. */
  readonly isShown?: (line: number) => boolean
}

/** Number of lines that are shown around a change. */
const context = 3

export function diffText(before: string, after: string): DiffText {
  const [old, now] = [linesOf(before), linesOf(after)]
  return { before: old, after: now, changes: lineChanges(old, now) }
}

/** The rows of a diff: changes with some lines around them, and gaps for the rest. */
export function diffRows(text: DiffText, options: RowOptions = {}): readonly DiffRow[] {
  const { split = false, heads = false, isShown = () => false } = options
  const { before, after, changes } = text
  const rows: DiffRow[] = []
  let [old, now] = [0, 0]
  const same = (count: number, next: boolean) => {
    const first = old === 0 && now === 0
    const near = (at: number) => (!first && at < context) || (next && at >= count - context)
    let hidden = 0
    for (let at = 0; at <= count; at++) {
      if (at < count && !near(at) && !isShown(now + at)) hidden++
      else {
        if (hidden > 0) rows.push({ kind: 'gap', from: now + at - hidden, count: hidden })
        hidden = 0
        if (at < count) rows.push({ kind: 'line', same: true, ...cells(text, old + at, now + at) })
      }
    }
    old += count
    now += count
  }
  changes.forEach((change, at) => {
    same(change.before.from - old, true)
    if (heads) rows.push({ kind: 'head', at })
    rows.push(...(split ? splitLines(text, change) : unifiedLines(text, change)))
    old += change.before.count
    now += change.after.count
  })
  same(Math.min(before.length - old, after.length - now), false)
  return rows
}

function unifiedLines(text: DiffText, change: LineChange): readonly LineRow[] {
  const { old, now } = changedCells(text, change)
  return [...old.map((before) => ({ before })), ...now.map((after) => ({ after }))].map((row) => ({
    kind: 'line',
    same: false,
    ...row,
  }))
}

function splitLines(text: DiffText, change: LineChange): readonly LineRow[] {
  const { old, now } = changedCells(text, change)
  return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => {
    const [before, after] = [old[at], now[at]]
    return { kind: 'line', same: false, ...(before && { before }), ...(after && { after }) }
  })
}

/** The lines of both sides of a change. The first line of a side stands for the first of the other one, and so on. */
function changedCells({ before, after }: DiffText, change: LineChange) {
  const side = (lines: readonly string[], { from, count }: LineRange, others: readonly string[]) =>
    lines.slice(from, from + count).map((text, at): DiffCell => {
      const other = others[at]
      return { line: from + at, text, ...(other !== undefined && { other }) }
    })
  const [old, now] = [change.before, change.after]
  return {
    old: side(before, old, after.slice(now.from, now.from + now.count)),
    now: side(after, now, before.slice(old.from, old.from + old.count)),
  }
}

/** A line that is the same on both sides. */
function cells({ before, after }: DiffText, old: number, now: number) {
  return {
    before: { line: old, text: before[old] ?? '' },
    after: { line: now, text: after[now] ?? '' },
  }
}
