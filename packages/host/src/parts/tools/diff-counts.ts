import type { DiffCounts } from '@atrium/protocol/common/content'

/**
 * Counts added and removed lines. Only the lines of the common prefix and suffix count as unchanged. This is quick, and exact
 * for a single change.
 */
export function diffCounts(before: string, after: string): DiffCounts {
  const [old, now] = [before, after].map((text) => (text === '' ? [] : text.replace(/\n$/, '').split('\n')))
  if (!old || !now) return {}
  let start = 0
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++
  return { added: now.length - start - end, removed: old.length - start - end }
}
