/** The part of a file in which lines are looked for. `from` is the number of its first line. */
interface Window {
  readonly from: number
  readonly lines: readonly string[]
}

/**
 * Aligns wanted lines with a part of a file: finds as many of them as possible, in the order of `wanted`, and
 * preferably without gaps. Returns a map from the index of each wanted line that was found to its line number.
 * `expected` is the line number that the first wanted line would have if nothing had moved. Of several equally good
 * alignments, the one nearest to `expected` is taken. An alignment of only one or two lines without a letter or digit
 * does not count: the result is then empty.
 */
export function aligned(
  wanted: readonly string[],
  { from, lines }: Window,
  expected: number,
): ReadonlyMap<number, number> {
  const width = lines.length
  // For each pair of a wanted line (the row) and a line of the file (the column) that are equal: the score of the
  // best alignment that ends with this pair, and the pair before it.
  const scores = new Float64Array(wanted.length * width).fill(-1)
  const previous = new Int32Array(wanted.length * width).fill(-1)
  // For each column: the best pair in this column or a column before it, among the rows above. One array is enough,
  // because the rows are filled in order.
  const bestBefore = new Int32Array(width).fill(-1)
  let end = -1
  const scoreOf = (cell: number) => (cell < 0 ? 0 : (scores[cell] ?? 0))
  const distanceOf = (cell: number) => Math.abs(from + (cell % width) - Math.floor(cell / width) - expected)
  for (const [row, line] of wanted.entries()) {
    const weight = weightOf(line)
    const found: number[] = []
    for (let column = 0; column < width; column++) {
      if (lines[column] !== line) continue
      const cell = row * width + column
      const above = row > 0 && column > 0 ? cell - width - 1 : -1
      const adjacent = above >= 0 && scoreOf(above) > 0 ? above : -1
      const earlier = column > 0 ? (bestBefore[column - 1] ?? -1) : -1
      const before = scoreOf(adjacent) >= scoreOf(earlier) - breakCost ? adjacent : earlier
      const gained = before < 0 ? 0 : scoreOf(before) - (before === adjacent ? 0 : breakCost)
      scores[cell] = weight + Math.max(0, gained)
      previous[cell] = gained > 0 ? before : -1
      found.push(cell)
      const better = scoreOf(cell) - scoreOf(end)
      if (end < 0 || better > 0 || (better === 0 && distanceOf(cell) < distanceOf(end))) end = cell
    }
    // The pairs of this row become candidates only now, because a pair can only follow pairs of earlier rows.
    let best = -1
    let next = 0
    for (let column = 0; column < width; column++) {
      const cell = found[next] ?? -1
      if (cell >= 0 && cell % width === column) {
        next++
        if (best < 0 || scoreOf(cell) >= scoreOf(best)) best = cell
      }
      const known = bestBefore[column] ?? -1
      if (best >= 0 && (known < 0 || scoreOf(best) >= scoreOf(known))) bestBefore[column] = best
    }
  }
  const pairs = new Map<number, number>()
  if (scoreOf(end) < meaningful) return pairs
  for (let cell = end; cell >= 0; cell = previous[cell] ?? -1)
    pairs.set(Math.floor(cell / width), from + (cell % width))
  return pairs
}

/**
 * The weight of a line that has a letter or digit. It is also the least score of an alignment, so that a bracket or
 * an empty line alone is no alignment.
 */
const meaningful = 3
const weightOf = (line: string) => (/[\p{L}\p{N}]/u.test(line) ? meaningful : 1)
/** The cost of a gap in an alignment: lines between two of its pairs are missing or new. */
const breakCost = 2
