import { expect, test } from 'vitest'
import { linePieces } from './word-marks.ts'

/** A line with its marked pieces in brackets. */
const marked = (line: string, other: string) =>
  linePieces(line, other)
    ?.map(({ text, changed }) => (changed ? `[${text}]` : text))
    .join('')

test.each([
  ['const a = 1', 'const a = 2', 'const a = [1]'],
  ['the quick brown fox', 'the slow red fox', 'the [quick brown] fox'],
  ['call(one, two)', 'call(one)', 'call(one[, two])'],
  ['call(one)', 'call(one, two)', 'call(one)'],
  ['  indented more', ' indented more', '[  ]indented more'],
  ['größe = 3', 'größe = 4', 'größe = [3]'],
  ['same', 'same', 'same'],
  ['a b c added', 'a b c', 'a b c[ added]'],
])('[U30] [U30.1] in %j, compared with %j, the changed words are marked', (line, other, expected) => {
  expect(marked(line, other)).toBe(expected)
})

test.each([
  ['nothing alike here', 'other words stand there'],
  ['', 'all of it is new'],
  [`${'x'.repeat(2000)} a`, `${'x'.repeat(2000)} b`],
])('[U30] [U30.1] lines that are too different or too long have no marks', (line, other) => {
  expect(marked(line, other)).toBeUndefined()
})

test('[U30] a line of 2,000 characters with many changes is compared in bounded time', () => {
  const words = (letter: string) => Array.from({ length: 400 }, (_, at) => `${letter}${at}`).join(' ')
  expect(marked(words('a').slice(0, 2000), words('b').slice(0, 2000))).toBeUndefined()
})
