import type { SearchTerm } from '@atrium/host/ports/search-index'

/** A word of a text, without case and accents, and its place in the text. */
export interface Word {
  readonly folded: string
  readonly start: number
  readonly end: number
}

/** Characters that stand for a word, or a part of one, without spaces between them: each counts as a word of its own. */
const ideographs = '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}'
const anyIdeograph = new RegExp(`[${ideographs}]`, 'u')
const letter = '[\\p{L}\\p{N}\\p{Co}]'
const borders = new RegExp(`${letter}\\p{M}*(?=[${ideographs}])|[${ideographs}]\\p{M}*(?=${letter})`, 'gu')
const word = new RegExp(`${letter}[\\p{L}\\p{N}\\p{Co}\\p{M}]*`, 'gu')

/** A character that ends a word and that nobody sees. */
export const separator = '\u200b'

/**
 * Converts a text to the form in which it is indexed. Control characters, except tabs and line ends, become spaces,
 * because two of them mark found words. An invisible separator is put between two letters if one of them is an
 * ideograph. Half a surrogate pair becomes U+FFFD, as SQLite would store it.
 */
export function prepared(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b]/g, ' ')
  const whole = clean.replaceAll(/\p{Cs}/gu, '\ufffd')
  return anyIdeograph.test(whole) ? whole.replaceAll(borders, `$&${separator}`) : whole
}

/** Returns the words of a text that `prepared` has returned. */
export function wordsOf(text: string): readonly Word[] {
  return [...text.matchAll(word)].map(({ 0: found, index }) => ({
    folded: folded(found),
    start: index,
    end: index + found.length,
  }))
}

/** Returns the words of a term. In a found text these words follow one another. */
export function termWords({ text }: SearchTerm): readonly string[] {
  return wordsOf(prepared(text)).map((each) => each.folded)
}

/** Returns a word in lower case and without accents. */
function folded(found: string): string {
  return found.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

/**
 * Returns the first position of the second in which a text was written. `time` is in milliseconds. Positions order
 * texts by time: each second has 256. If a second has more texts, they take the next free positions after it.
 */
export function positionOf(time: number): number {
  return Math.max(0, Math.floor(time / 1000)) * 256
}
