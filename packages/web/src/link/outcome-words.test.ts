import { expect, test } from 'vitest'
import { failureOf } from './outcome-words.ts'

test.each([
  [{ outcome: 'accepted', serverSeq: 7 }, undefined],
  [{ outcome: 'refused', reason: 'no such turn' }, 'The host refused: no such turn'],
  [{ outcome: 'lost', reason: 'the link is closed' }, 'The host has not confirmed this: the link is closed'],
] as const)('[U15] %j is shown as %s', (outcome, words) => {
  expect(failureOf(outcome)).toBe(words)
})
