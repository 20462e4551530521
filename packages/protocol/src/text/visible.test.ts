import { expect, test } from 'vitest'
import { visibleJson, visibleText } from './visible.ts'

test.each([
  ['plain text,\n\twith a tab', 'plain text,\n\twith a tab'],
  ['Grüße, 你好, مرحبا, 😀', 'Grüße, 你好, مرحبا, 😀'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007after', 'after'],
  ['\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u009b2Jcleared', 'cleared'],
  ['\u001bcreset', 'reset'],
  ['a\u0000b\u0007c\u007fd\u0085e', 'abcde'],
  ['one\r\ntwo\rthree\u2028four', 'one\ntwo\nthree\nfour'],
  ['safe\u202egnp.exe\u202c', 'safegnp.exe'],
  ['\u2066isolate\u2069 \u061cmark', 'isolate mark'],
  ['zero\u200bwidth\u200d\ufeff\u2060', 'zerowidth'],
  ['tags\u{e0069}\u{e0067}', 'tags'],
  ['selector\ufe01\u{e0100}', 'selector'],
  ['filler\u3164\u115f', 'filler'],
  ['private\ue000\u{f0000}', 'private'],
  ['lone\ud83dsurrogate', 'lonesurrogate'],
])('[F7.1] [F7] visible text of %j', (text, visible) => expect(visibleText(text)).toBe(visible))

test('[F7] the keys and texts of a JSON value are visible, and no key sets a prototype', () => {
  const value: unknown = JSON.parse('{"a\u202e":["b\u200b",1,null,true],"__proto__":{"x":1}}')
  expect(visibleJson(value)).toEqual({ a: ['b', 1, null, true] })
  expect(Object.getPrototypeOf(visibleJson(value))).toBe(Object.prototype)
})
