import { expect, test } from 'vitest'
import { plainText } from './plain-text.ts'

test.each([
  ['a line that is erased to its end and written again', 'Downloading 100%\r\x1b[KDone\r\n', 'Done'],
  ['the same with the parameter 0', 'Downloading 100%\r\x1b[0KDone\r\n', 'Done'],
  ['a line that is erased as a whole', 'Downloading 100%\x1b[2K\rDone\r\n', 'Done'],
  ['a line that is erased as a whole after the return', 'Downloading 100%\r\x1b[2KDone\r\n', 'Done'],
  ['a cursor that is moved to the first column', 'Downloading\x1b[2K\x1b[1GDone, \x1b[GNone\r\n', 'None,'],
  ['a screen that is erased below the cursor', 'Downloading 100%\r\x1b[JDone\r\n', 'Done'],
  ['an end of the line that is erased', 'count: 10\b\b\x1b[K9\r\nnext', 'count: 9\nnext'],
  ['a line that is erased after its text', 'remote: done\x1b[K\r\nnext', 'remote: done\nnext'],
  ['a line that is erased, and written from the same column', 'abc\x1b[2Kd', '   d'],
  ['a line that is erased and not written again', 'Downloading\r\x1b[K\r\nDone', '\nDone'],
])('[Y9.3] plain text: %s', (_, output, expected) => expect(plainText(output)).toBe(expected))

test.each([
  ['colours', '\x1b[1;32mok\x1b[0m\r\n', 'ok'],
  ['a line that is overwritten in part', '10 of 20\r11\r\n', '11 of 20'],
  ['characters that are typed over', 'N\bNA\bAM\bME\bE 😀\b!', 'NAME !'],
  ['other control characters', 'a\0\x01b\x07c\td', 'abc\td'],
  ['titles and links', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\', 'ab'],
])('[Y9.3] plain text: %s', (_, output, expected) => expect(plainText(output)).toBe(expected))

test('[Y9] [Y9.3] plain text: a long line that is erased very often takes no longer than its length allows', () => {
  const long = 'x'.repeat(500_000)
  expect(plainText(`${long}${'\x1b[2Ky'.repeat(100_000)}`)).toBe(`${' '.repeat(599_999)}y`)
  expect(plainText(`${long}${'\r\x1b[Ky'.repeat(100_000)}`)).toBe('y')
})
