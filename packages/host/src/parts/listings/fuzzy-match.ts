/** An item that can be found by a part of its name. */
export interface Findable {
  /** The name or the path, in lower case. */
  readonly folded: string
}

export interface Match<T> {
  readonly item: T
  /** Smaller is better. */
  readonly score: number
}

export function fold(text: string): string {
  return text.toLowerCase()
}

/**
 * Returns at most `max` items that match, best first. Equally good items keep their order. The time is proportional to the
 * total length of the names, whatever the user typed (S-25).
 */
export function best<T extends Findable>(
  items: Iterable<T>,
  typed: string,
  max: number,
): readonly Match<T>[] {
  const score = scorer(fold(typed))
  const byScore: Match<T>[][] = Array.from({ length: scores.none }, () => [])
  for (const item of items) {
    const matches = byScore[score(item.folded)]
    if (matches && matches.length < max) matches.push({ item, score: byScore.indexOf(matches) })
  }
  return byScore.flat().slice(0, max)
}

/** The score of each sort of match, best first. `name` means the part of a path after its last slash. */
const scores = {
  name: 0,
  nameBegins: 1,
  pathBegins: 2,
  partBegins: 3,
  inName: 4,
  inPath: 5,
  scattered: 6,
  none: 7,
} as const

/**
 * Returns the function that scores a text. It reads each character once, and searches for the whole word (by Knuth, Morris
 * and Pratt) and for the letters of the word in order.
 */
function scorer(word: string): (text: string) => number {
  const borders = bordersOf(word)
  const { length } = word
  return (text) => {
    if (length === 0) return scores.name
    const name = text.lastIndexOf('/') + 1
    let score: number = scores.none
    let matched = 0
    let letters = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      while (matched > 0 && code !== word.charCodeAt(matched)) matched = borders[matched - 1] ?? 0
      if (code === word.charCodeAt(matched)) matched++
      if (code === word.charCodeAt(letters)) letters++
      if (matched < length) continue
      score = Math.min(score, scoreAt(text, i + 1 - length, i + 1, name))
      matched = borders[matched - 1] ?? 0
    }
    return letters === length ? Math.min(score, scores.scattered) : score
  }
}

function scoreAt(text: string, start: number, end: number, name: number): number {
  if (start === name) return end === text.length ? scores.name : scores.nameBegins
  if (start === 0) return scores.pathBegins
  if (text.charAt(start - 1) === '/') return scores.partBegins
  return start > name ? scores.inName : scores.inPath
}

/**
 * Returns for each prefix of the word the length of the longest proper suffix of that prefix which is also a prefix of the
 * word.
 */
function bordersOf(word: string): readonly number[] {
  const borders = [0]
  for (let i = 1, length = 0; i < word.length; i++) {
    while (length > 0 && word.charCodeAt(i) !== word.charCodeAt(length)) length = borders[length - 1] ?? 0
    if (word.charCodeAt(i) === word.charCodeAt(length)) length++
    borders.push(length)
  }
  return borders
}
