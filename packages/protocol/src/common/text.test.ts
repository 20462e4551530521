import fc from 'fast-check'
import { expect, test } from 'vitest'
import { offsetAt, positionAt, textIn } from './text.ts'

const text = 'one\r\ntwö\n\n𝒳y\rlast'

test.each([
  [0, 0, 0],
  [0, 3, 3],
  [0, 99, 3],
  [1, 0, 5],
  [1, 3, 8],
  [2, 0, 9],
  [2, 5, 9],
  [3, 2, 12],
  [3, 3, 13],
  [4, 4, 18],
  [9, 0, 18],
])('[P9] [P9.2] line %i character %i is at %i, in UTF-16 units', (line, character, offset) => {
  expect(offsetAt(text, { line, character })).toBe(offset)
})

test('[P9] textIn returns the text of a range', () => {
  expect(textIn(text, { start: { line: 1, character: 2 }, end: { line: 3, character: 2 } })).toBe('ö\n\n𝒳')
})

test('[P9] offset to position and back gives the same offset, unless it is inside a line break', () => {
  const lines = fc.string({ unit: fc.constantFrom('a', '𝒳', '\n', '\r', '\r\n') })
  fc.assert(
    fc.property(lines, fc.nat(40), (source, at) => {
      const offset = Math.min(at, source.length)
      const inside = source[offset - 1] === '\r' && source[offset] === '\n'
      expect(offsetAt(source, positionAt(source, offset))).toBe(inside ? offset - 1 : offset)
    }),
  )
})
