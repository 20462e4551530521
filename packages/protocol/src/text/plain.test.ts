import { expect, test } from 'vitest'
import { plainLine, plainText } from './plain.ts'

test('[X9.2] a text keeps what a person sees, with its lines', () => {
  expect(plainText(' Zählt Zeilen\n\tund 語 👩‍🚀 ', 100)).toBe('Zählt Zeilen\n\tund 語 👩🚀')
})

test.each([
  ['a NUL and an escape', 'a\u0000b\u001b[31m', 'ab[31m'],
  ['C1 controls', 'a\u009bb', 'ab'],
  ['zero-width characters', 'a\u200b\u200c\u200d\u2060\ufeffb', 'ab'],
  ['bidirectional controls', 'a\u202e\u2066\u200f\u061cb', 'ab'],
  ['tags', `a${String.fromCodePoint(0xe0041, 0xe0042)}b`, 'ab'],
  ['a soft hyphen and variation selectors', 'a\u00ad\ufe0f\u{e0100}b', 'ab'],
  ['a lone surrogate', 'a\ud83db', 'ab'],
  ['a carriage return', 'a\r\nb', 'a\nb'],
])('[X9.2] %s: left out', (_, text, plain) => {
  expect(plainText(text, 100)).toBe(plain)
})

test('[X9.2] a long text is cut between two characters', () => {
  expect(plainText('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`)
  expect(plainText('😀'.repeat(6), 10)).toBe(`${'😀'.repeat(4)}…`)
  expect(plainText('x'.repeat(10), 10)).toBe('x'.repeat(10))
  expect(plainText(`${'\u200b'.repeat(1_000_000)}x`, 10)).toBe('')
})

test('[X9.2] a line has no line breaks', () => {
  expect(plainLine('a\n\n b\tc\u2028d', 100)).toBe('a b c d')
})
