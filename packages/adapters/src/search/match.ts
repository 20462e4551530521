import { closes, gap, opens } from './excerpt.ts'
import type { Word } from './words.ts'

/** A text that `prepared` has returned, and its words. */
export interface MatchedText {
  readonly text: string
  readonly words: readonly Word[]
}

/** A run of words in a text: the index of the first one, and their number. */
export interface Place {
  readonly from: number
  readonly count: number
}

/**
 * Returns the places where the wanted words follow one another. `prefix`: the last word in the text need only begin
 * with the last wanted word.
 */
export function placesOf(
  wanted: readonly string[],
  prefix: boolean,
  words: readonly Word[],
): readonly Place[] {
  if (wanted.length === 0) return []
  const isHere = (from: number) =>
    wanted.every((each, i) => {
      const found = words[from + i]?.folded
      return prefix && i === wanted.length - 1 ? found?.startsWith(each) : found === each
    })
  return [...words.keys()].filter(isHere).map((from) => ({ from, count: wanted.length }))
}

/** The number of words in an excerpt before the first match, and from the first match on. */
const around = 20

/** Returns the part of the text around the first match, with marks around all matches in this part. */
export function marked({ text, words }: MatchedText, places: readonly Place[]): string {
  const first = Math.min(...places.map(({ from }) => from))
  const [begin, end] = [Math.max(0, first - around), Math.min(words.length, first + around)]
  const from = begin === 0 ? 0 : (words[begin]?.start ?? 0)
  const to = end === words.length ? text.length : (words[end - 1]?.end ?? 0)
  let result = begin === 0 ? '' : gap
  let at = from
  for (const place of places.toSorted((a, b) => a.from - b.from || b.count - a.count)) {
    const { start = 0 } = words[place.from] ?? {}
    const { end: stop = 0 } = words[place.from + place.count - 1] ?? {}
    // A match that overlaps an earlier one, or ends outside of the excerpt, gets no marks.
    if (start < at || stop > to) continue
    result += `${text.slice(at, start)}${opens}${text.slice(start, stop)}${closes}`
    at = stop
  }
  return `${result}${text.slice(at, to)}${end === words.length ? '' : gap}`
}
