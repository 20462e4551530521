import { diffArrays } from 'diff'

/** Lines of a text. Line numbers begin with 0. A range without lines has the number of the line that follows it. */
export interface LineRange {
  readonly from: number
  readonly count: number
}

/** A changed part of a text: lines of the earlier text, and the lines that stand in their place now. */
export interface LineChange {
  readonly before: LineRange
  readonly after: LineRange
}

/** Number of changed lines up to which texts are compared. More would take too long while a person waits. */
const maxEditLength = 1000

/** The lines of a text with their ends, so that a last line without an end differs from one with an end. */
export function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? []
}

/** The changed parts between two texts. Texts that have hardly anything in common are one change. */
export function lineChanges(before: readonly string[], after: readonly string[]): readonly LineChange[] {
  if (before.length === 0 || after.length === 0) return whole(before.length, after.length)
  const parts = diffArrays([...before], [...after], { maxEditLength })
  if (!parts) return whole(before.length, after.length)
  const changes: LineChange[] = []
  let [old, now] = [0, 0]
  let start: { readonly old: number; readonly now: number } | undefined
  const close = () => {
    if (!start) return
    changes.push({
      before: { from: start.old, count: old - start.old },
      after: { from: start.now, count: now - start.now },
    })
    start = undefined
  }
  for (const { added, removed, value } of parts) {
    if (added || removed) start ??= { old, now }
    else close()
    if (!added) old += value.length
    if (!removed) now += value.length
  }
  close()
  return changes
}

function whole(before: number, after: number): readonly LineChange[] {
  if (before === 0 && after === 0) return []
  return [{ before: { from: 0, count: before }, after: { from: 0, count: after } }]
}
