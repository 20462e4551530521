import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { typedAt } from './typed.ts'

const most = limits.completionLength
const at = (text: string, offset = text.length) => typedAt(text, offset, most)

test.each([
  ['@', { trigger: '@', word: '', start: 0 }],
  ['@src/a', { trigger: '@', word: 'src/a', start: 0 }],
  ['look at @a', { trigger: '@', word: 'a', start: 8 }],
  ['look at\n#two', { trigger: '#', word: 'two', start: 8 }],
  ['(@a', { trigger: '@', word: 'a', start: 1 }],
  ['see "#b', { trigger: '#', word: 'b', start: 5 }],
  ['@a@b', { trigger: '@', word: 'a@b', start: 0 }],
  ['/pl', { trigger: '/', word: 'pl', start: 0 }],
  [' \n /pl', { trigger: '/', word: 'pl', start: 3 }],
  ['👩‍👩‍👧 @ü', { trigger: '@', word: 'ü', start: 9 }],
  ['a\u00a0@b', { trigger: '@', word: 'b', start: 2 }],
])('[J1.1] [J1] %j: the word before the cursor', (text, typed) => {
  expect(at(text)).toEqual(typed)
})

test.each([
  '',
  'a',
  'me@example.com',
  'a/b',
  'and /plan',
  '@a ',
  'x(@a',
  '((@a',
  '(',
  '"',
  '$HOME',
  'constructor',
  '\ud83d',
])('[J1.1] [J1] %j: nothing to be completed', (text) => {
  expect(at(text)).toBeUndefined()
})

test('[J1] the text after the cursor is ignored', () => {
  expect(at('@ab cd', 2)).toEqual({ trigger: '@', word: 'a', start: 0 })
  expect([at('@ab', 0), at('(@ab', 0), at('(@ab', 1)]).toEqual([undefined, undefined, undefined])
})

test('[S-57 completionLength] at 256: a word of that length is found', () => {
  const word = 'x'.repeat(256)
  expect(at(`a @${word}`)).toEqual({ trigger: '@', word, start: 2 })
  expect(at(`(@${word}`)).toEqual({ trigger: '@', word, start: 1 })
})

test('[S-57 completionLength] past 256: none, whatever is before it', () => {
  const word = 'x'.repeat(257)
  for (const before of ['', 'a ', '(', '@', '(@', 'a @', '(@@', '@('])
    expect(at(`${before}@${word}`), before).toBeUndefined()
  expect(at(`@${'x'.repeat(4_000_000)}`)).toBeUndefined()
})
