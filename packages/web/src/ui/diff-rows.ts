import { structuredPatch } from 'diff'

/** A line of a diff. `gap` stands for lines that are left out. */
export interface DiffRow {
  readonly kind: 'same' | 'added' | 'removed' | 'gap'
  readonly text: string
  readonly before?: number
  readonly after?: number
}

/** The rows of a unified diff with three lines of context. */
export function diffRows(before: string, after: string): readonly DiffRow[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: 4000 })
  if (!patch) return [{ kind: 'gap', text: 'The difference is too large to show here.' }]
  return patch.hunks.flatMap((hunk, at) => {
    let [old, now] = [hunk.oldStart, hunk.newStart]
    const rows = hunk.lines.flatMap((line): readonly DiffRow[] => {
      const text = line.slice(1)
      if (line.startsWith('+')) return [{ kind: 'added', text, after: now++ }]
      if (line.startsWith('-')) return [{ kind: 'removed', text, before: old++ }]
      return line.startsWith('\\') ? [] : [{ kind: 'same', text, before: old++, after: now++ }]
    })
    const skipped = at > 0 || hunk.oldStart > 1
    return skipped ? [{ kind: 'gap' as const, text: '' }, ...rows] : rows
  })
}
