import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { expect, test } from 'vitest'
import { failedRequest, failureOf, failureWords } from './outcome-words.ts'

test.each([
  [{ outcome: 'accepted', serverSeq: 7 }, undefined],
  [{ outcome: 'refused', reason: 'no such turn' }, 'The host refused: no such turn'],
  [{ outcome: 'lost', reason: 'the link is closed' }, 'The host has not confirmed this: the link is closed'],
] as const)('[U15] %j is shown as %s', (outcome, words) => {
  expect(failureOf(outcome)).toBe(words)
})

test.each([
  [new Error('no user.email is set'), 'Nothing was committed: no user.email is set'],
  [new LinkClosed('the link is closed'), 'It is not known whether this was committed: the link is closed'],
  ['odd', 'Nothing was committed: odd'],
])('[U15.2] the failed request %s is shown as %s', (error, words) => {
  expect(failureWords(failedRequest(error), 'Nothing was committed', 'this was committed')).toBe(words)
})
