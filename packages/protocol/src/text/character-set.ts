/**
 * A set of characters: sorted ranges of code points, which neither overlap nor touch. Both ends belong to a range.
 */
export type CharacterSet = readonly Range[]
type Range = readonly [from: number, to: number]

const last = 0x10ffff

export const digits = setOf([[48, 57]])
export const wordCharacters = setOf([
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
])
export const spaces = setOf(
  [9, 10, 11, 12, 13, 32, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff]
    .map((code): Range => [code, code])
    .concat([[0x2000, 0x200a]]),
)
/** Every character but the newline. */
export const lineCharacters = complement(setOf([[10, 10]]))

/** Makes a set of ranges that may overlap and have any order. */
export function setOf(ranges: readonly Range[]): CharacterSet {
  const merged: Range[] = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = merged.at(-1)
    if (before && from <= before[1] + 1) merged[merged.length - 1] = [before[0], Math.max(before[1], to)]
    else merged.push([from, to])
  }
  return merged
}

export function complement(set: CharacterSet): CharacterSet {
  const ends = [-1, ...set.map(([, to]) => to)]
  const starts = [...set.map(([from]) => from), last + 1]
  return ends.flatMap((end, i) => {
    const next = starts[i] ?? 0
    return end + 1 < next ? [[end + 1, next - 1] as const] : []
  })
}

export function has(set: CharacterSet, code: number): boolean {
  let [low, high] = [0, set.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const [from, to] = set[middle] ?? [0, -1]
    if (code < from) high = middle - 1
    else if (code > to) low = middle + 1
    else return true
  }
  return false
}

/** Adds the other case of every letter of the set. */
export function inBothCases(set: CharacterSet): CharacterSet {
  const others = casePairs().flatMap(([a, b]): readonly Range[] => {
    if (has(set, a) === has(set, b)) return []
    return [has(set, a) ? [b, b] : [a, a]]
  })
  return others.length === 0 ? set : setOf([...set, ...others])
}

let knownPairs: readonly Range[] | undefined

/**
 * The pairs of a letter and its other case, if that is a single letter too. The list is made once, because it takes
 * some milliseconds.
 */
function casePairs(): readonly Range[] {
  if (knownPairs) return knownPairs
  const pairs: Range[] = []
  for (let code = 0; code < 0x1f000; code++) {
    const letter = String.fromCodePoint(code)
    const lower = letter.toLowerCase()
    const lowerCode = lower.codePointAt(0) ?? code
    if (lowerCode !== code && String.fromCodePoint(lowerCode) === lower) pairs.push([code, lowerCode])
  }
  return (knownPairs = pairs)
}
