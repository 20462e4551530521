/**
 * The characters that separate words and that FTS5 would take for letters: its tables end at Unicode 6.1, and a character that it does
 * not know counts as a letter. Whole blocks are listed, so that signs of later versions of Unicode are in the list too.
 */
const blocks = [
  [0x2066, 0x2069], // signs for the direction of a text
  [0x20a0, 0x20cf], // currencies
  [0x2300, 0x243f],
  [0x2700, 0x27bf],
  [0x2b00, 0x2bff],
  [0x2e00, 0x2e7f], // punctuation
  [0x1f000, 0x1faff], // emoji
]

const letter = /[\p{L}\p{N}\p{M}]/u

/** The characters as the option `separators` of FTS5's tokenizer. None of them is a quotation mark of SQL. */
export const SEPARATORS = blocks
  .flatMap(([first = 0, last = 0]) =>
    Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i)),
  )
  .filter((character) => !letter.test(character))
  .join('')
