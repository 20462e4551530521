import { expect, test } from 'vitest'
import { completed, hasTrigger, narrowed } from './use-completions.ts'

const triggers = ['@', '#', '/']

test.each<readonly [string, boolean]>([
  ['@', true],
  ['see @src/a', true],
  ['see (@src', true],
  ['#', true],
  ['/', true],
  ['/sa', true],
  ['say /sa', false],
  ['a@b', false],
  ['see @src ', false],
  ['plain', false],
  ['', false],
  ['!ls', false],
])('[U34] the host is asked for completions of %j: %s', (text, asked) => {
  expect(hasTrigger(text, triggers)).toBe(asked)
})

test('[U34] a completion replaces its word, and the caret stands behind it', () => {
  const attachment = { type: 'simple' as const, label: 'a' }
  const item = { insertText: '@src/a.ts', rangeStart: 4, rangeEnd: 6, attachment }
  expect(completed({ text: 'see @s', caret: 6 }, item)).toEqual({ text: 'see @src/a.ts ', caret: 14 })
  expect(completed({ text: 'see @s now', caret: 6 }, item)).toEqual({ text: 'see @src/a.ts now', caret: 14 })
})

test.each<readonly [string, readonly string[]]>([
  ['see @', ['@src/alpha.ts', '@beta.ts']],
  ['see @al', ['@src/alpha.ts']],
  ['see @SALT', ['@src/alpha.ts']],
  ['see @bt', ['@beta.ts']],
  ['see @zeta', []],
  ['see ', []],
  ['so @al', []],
  ['see @a @', []],
])('[U34] [U34.1] after typing on to %j, of the list for "see @" are left: %j', (text, left) => {
  const attachment = { type: 'simple' as const, label: 'a' }
  const range = { rangeStart: 4, rangeEnd: 5, attachment }
  const items = ['@src/alpha.ts', '@beta.ts'].map((insertText) => ({ insertText, ...range }))
  const typed = { text, caret: text.length }
  const found = narrowed(items, { text: 'see @', caret: 5 }, typed)
  expect(found.map((item) => completed(typed, item).text)).toEqual(left.map((each) => `see ${each} `))
})
