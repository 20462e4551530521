import { expect, test } from 'vitest'
import { completed, hasTrigger } from './use-completions.ts'

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
