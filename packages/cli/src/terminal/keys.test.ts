import { expect, test } from 'vitest'
import { KeyReader } from './keys.ts'
import { emptyLine, lineOf, pressLine, shownLine } from '../render/line.ts'
import type { Line } from '../render/line.ts'

const sent = Buffer.from(
  'aé漢😀\r\u001b[A\u001bOB\u001b[200~two\r\nlines y\u001b[201~\u001b\r\u001b[3~\u0003\u001b[1;5C\u0007\t',
)
const expected = [
  'a',
  'é',
  '漢',
  '😀',
  'enter',
  'up',
  'down',
  'paste two\nlines y',
  'alt-enter',
  'delete',
  'ctrl-c',
  'unknown',
  'unknown',
  'tab',
]
const names = (reader: KeyReader, chunk: Buffer) =>
  reader
    .read(chunk)
    .map(({ name, text }) => (name === 'text' ? text : text === undefined ? name : `${name} ${text}`))

test('[Z6] the decoded keys do not depend on the size of the chunks', () => {
  for (let at = 0; at <= sent.length; at++) {
    const reader = new KeyReader()
    expect([...names(reader, sent.subarray(0, at)), ...names(reader, sent.subarray(at))]).toEqual(expected)
  }
  const reader = new KeyReader()
  expect([...sent].flatMap((byte) => names(reader, Buffer.from([byte])))).toEqual(expected)
})

test('[Z6] an escape character that nothing follows is the Escape key', () => {
  const reader = new KeyReader()
  expect([reader.read('\u001b'), reader.incomplete]).toEqual([[], true])
  expect(reader.flush()).toEqual([{ name: 'escape' }])
  expect([reader.read('\u001b[200~never ended'), reader.flush(), reader.incomplete]).toEqual([[], [], true])
})

/** Presses keys, by their names or characters. A name is not checked. */
const press = (line: Line, ...keys: readonly string[]): Line =>
  keys.reduce<Line>(
    (now, key) => pressLine(now, { name: key.length > 1 ? key : 'text', text: key } as never) ?? now,
    line,
  )

test('[Z8] a line is edited by grapheme clusters', () => {
  expect(press(emptyLine, 'a', 'b', 'left', 'x')).toEqual({ text: 'axb', at: 2 })
  expect(press(lineOf('ok👩‍👩‍👧'), 'backspace')).toEqual({ text: 'ok', at: 2 })
  expect(press(lineOf('👩‍👩‍👧k'), 'home', 'delete')).toEqual({ text: 'k', at: 0 })
  expect(press(lineOf('one two  '), 'ctrl-w')).toEqual({ text: 'one ', at: 4 })
  expect(press(lineOf('one two'), 'left', 'ctrl-u')).toEqual({ text: 'o', at: 0 })
  expect(press(lineOf('one'), 'home', 'right', 'ctrl-k')).toEqual({ text: 'o', at: 1 })
  expect(pressLine(emptyLine, { name: 'paste', text: 'two\nlines' })?.text).toBe('two\nlines')
})

test('[Z8] the part of a long line around the cursor is shown, also for wide characters', () => {
  expect(shownLine(lineOf('abcdefgh'), 5)).toEqual({ text: 'efgh', column: 4 })
  expect(shownLine(lineOf('漢字漢字'), 6)).toEqual({ text: '漢字', column: 4 })
  expect(shownLine({ text: 'abcdefgh', at: 0 }, 5)).toEqual({ text: 'abcd', column: 0 })
  expect(shownLine(lineOf('a\nb\u001b'), 20)).toEqual({ text: 'a⏎b\ufffd', column: 4 })
})
