import type { SearchTerm } from '@atrium/host/ports/search-index'

/** A word of a text, without case and without accents of Latin letters, and its place in the text. */
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
/** The combining marks that SQLite's FTS5 removes from words as accents. Any other combining mark ends a word. */
const accents =
  '\\u0300-\\u0304\\u0306-\\u030c\\u030f\\u0311\\u031b\\u0323-\\u0328\\u032d\\u032e\\u0330\\u0331'
const anyAccent = new RegExp(`[${accents}]`)
const word = new RegExp(`${letter}[\\p{L}\\p{N}\\p{Co}${accents}]*`, 'gu')

/** A character that ends a word and that nobody sees. */
export const separator = '\u200b'

/**
 * Converts a text to the form in which it is indexed. Letters and their marks are composed (NFC), because FTS5 would
 * take the mark of й for an accent if it stood alone. Control characters, except tabs and line ends, become spaces,
 * because two of them mark found words. An invisible separator is put between two letters if one of them is an
 * ideograph. Half a surrogate pair becomes U+FFFD, as SQLite would store it.
 */
export function prepared(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b]/g, ' ')
  const whole = clean.normalize('NFC').replaceAll(/\p{Cs}/gu, '\ufffd')
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

/**
 * Returns a word in lower case and without the accents of Latin letters. SQLite's FTS5 converts words in the same way
 * (`unicode61 remove_diacritics 2`), so all indexes find the same texts.
 */
function folded(found: string): string {
  return found.replaceAll(/[^\0-\x7f]/gu, foldedLetter).toLowerCase()
}

function foldedLetter(one: string): string {
  if (anyAccent.test(one)) return ''
  const [base = ''] = one.normalize('NFD')
  if (/[a-z]/i.test(base)) return base
  // Forms of one letter, such as σ and ς, have the same capital, so they become equal here. The Turkish ı is left as
  // it is: its capital is that of i, but it is another letter.
  const capital = one === 'ı' ? one : one.toUpperCase()
  return capital.length === one.length ? capital.toLowerCase() : one.toLowerCase()
}

/**
 * Returns the first position of the second in which a text was written. `time` is in milliseconds. Positions order
 * texts by time: each second has 256. If a second has more texts, they take the next free positions after it.
 */
export function positionOf(time: number): number {
  return Math.max(0, Math.floor(time / 1000)) * 256
}
