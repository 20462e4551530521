import type { SearchTerm } from '@atrium/host/ports/search-index'

/** A word of a text, folded, and its place in the text. */
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
 * A text as it is indexed: without control characters, which mark found words, and with an invisible separator wherever a word
 * ends without a space. SQLite would replace half a surrogate pair, so this replaces it.
 */
export function prepared(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b]/g, ' ')
  const whole = clean.replaceAll(/\p{Cs}/gu, '\ufffd')
  return anyIdeograph.test(whole) ? whole.replaceAll(borders, `$&${separator}`) : whole
}

/** The words of a prepared text. */
export function wordsOf(text: string): readonly Word[] {
  return [...text.matchAll(word)].map(({ 0: found, index }) => ({
    folded: folded(found),
    start: index,
    end: index + found.length,
  }))
}

/** A term as the words that must follow one another. */
export function termWords({ text }: SearchTerm): readonly string[] {
  return wordsOf(prepared(text)).map((each) => each.folded)
}

/** A word without its case and its accents. */
function folded(found: string): string {
  return found.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

/**
 * The first of the positions that a text with this time may have. Positions order texts by time: 256 for each second. If a
 * second has more texts, they take positions of the next one.
 */
export function positionOf(time: number): number {
  return Math.max(0, Math.floor(time / 1000)) * 256
}
