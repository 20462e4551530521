import { expect, test } from 'vitest'
import { keyWords } from './commands.ts'

test.each([
  ['Mod+k', false, 'Ctrl+K'],
  ['Mod+k', true, '⌘K'],
  ['n', false, 'N'],
  ['?', true, '?'],
])('[U36] the keys %s read as %s: %s', (keys, isMac, words) => {
  expect(keyWords(keys, isMac)).toBe(words)
})
