/**
 * Shrinks a failing list: leaves out halves, then smaller parts, down to single items, until nothing more can go or
 * the attempts are used up.
 */
export async function shrink<T>(
  whole: readonly T[],
  fails: (fewer: readonly T[]) => Promise<boolean>,
  attempts = 600,
): Promise<readonly T[]> {
  let items = whole
  let left = attempts
  for (let size = Math.ceil(items.length / 2), smaller = true; size > 1 || smaller;) {
    smaller = false
    for (let at = 0; at < items.length && left > 0; left--) {
      const fewer = [...items.slice(0, at), ...items.slice(at + size)]
      if (await fails(fewer)) {
        items = fewer
        smaller = true
      } else at += size
    }
    size = Math.ceil(size / 2)
    if (left === 0) break
  }
  return items
}
