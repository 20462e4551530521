/** A part of a text that differs from a part of another one. One of the two parts may be empty. */
export interface LineChange {
  readonly before: LineRange
  readonly after: LineRange
}

export interface LineRange {
  /** The number of the first line, from 0. For an empty range, the number of the line that follows it. */
  readonly from: number
  readonly count: number
}

/**
 * Computes the smallest changes that lead from some lines to others (Myers). Two changes have at least one common
 * line between them. Texts that have hardly anything in common are one change, because the search would take long.
 */
export function lineChanges(before: readonly string[], after: readonly string[]): readonly LineChange[] {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  let end = 0
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const a = before.slice(start, before.length - end)
  const b = after.slice(start, after.length - end)
  const changes: LineChange[] = []
  let [x, y] = [0, 0]
  for (const [i, j] of [...commonLines(a, b), [a.length, b.length] as const]) {
    if (i > x || j > y)
      changes.push({
        before: { from: start + x, count: i - x },
        after: { from: start + y, count: j - y },
      })
    ;[x, y] = [i + 1, j + 1]
  }
  return changes
}

type Pair = readonly [x: number, y: number]

/**
 * Finds the lines that `a` and `b` have in common. Returns their numbers in `a` and in `b`, in the order of lines.
 * Empty if there are too many differences.
 */
function commonLines(a: readonly string[], b: readonly string[]): readonly Pair[] {
  if (a.length === 0 || b.length === 0) return []
  const most = Math.min(a.length + b.length, mostDifferences)
  // For each diagonal, the farthest line of `a` that is reached with the present number of differences. On a diagonal, x - y is
  // the same.
  const reached = new Int32Array(2 * most + 3)
  const rounds: Int32Array[] = []
  const at = (diagonal: number) => reached[diagonal + most + 1] ?? 0
  for (let differences = 0; differences <= most; differences++) {
    rounds.push(reached.slice(most - differences, most + differences + 3))
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      let x = addsNext(at, diagonal, differences) ? at(diagonal + 1) : at(diagonal - 1) + 1
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++
      reached[diagonal + most + 1] = x
      if (x >= a.length && x - diagonal >= b.length) return pathBack(rounds, a.length, b.length)
    }
  }
  return []
}

/** Whether the best way to a diagonal ends with an added line, and not with a removed one. */
function addsNext(at: (diagonal: number) => number, diagonal: number, differences: number): boolean {
  if (diagonal === -differences) return true
  return diagonal !== differences && at(diagonal - 1) < at(diagonal + 1)
}

/** Goes back from the ends of both texts to their beginnings. Returns the pairs of common lines on the way. */
function pathBack(rounds: readonly Int32Array[], length: number, otherLength: number): readonly Pair[] {
  const pairs: Pair[] = []
  let [x, y] = [length, otherLength]
  for (let differences = rounds.length - 1; differences >= 0; differences--) {
    const round = rounds[differences]
    const at = (diagonal: number) => round?.[diagonal + differences + 1] ?? 0
    const diagonal = x - y
    const from = addsNext(at, diagonal, differences) ? diagonal + 1 : diagonal - 1
    const [fromX, fromY] = differences === 0 ? [0, 0] : [at(from), at(from) - from]
    while (x > fromX && y > fromY) pairs.push([--x, --y])
    ;[x, y] = [fromX, fromY]
  }
  return pairs.toReversed()
}

/**
 * The maximum number of added and removed lines that the search allows. The square of this number is about the
 * maximum number of its steps.
 */
const mostDifferences = 1000
