import { Refused } from '@atrium/client/link/reconnect'
import { afterEach, expect, test, vi } from 'vitest'
import { enter } from './entering.ts'

afterEach(() => vi.unstubAllGlobals())

const hostAnswers = (status: number) =>
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status })))

test.each([
  [403, 'ABCDE-FGHIJ', 'the host does not accept this link: it is wrong, was used, or has ended'],
  [403, '', 'the host does not let this browser in'],
  [429, 'ABCDE-FGHIJ', 'there were too many failed attempts; try again in some minutes'],
  [502, 'ABCDE-FGHIJ', 'the host answers with 502'],
])('[G13] if the host answers with %d to the code "%s", the page says: %s', async (status, code, words) => {
  hostAnswers(status)
  await expect(enter(code)).rejects.toThrow(words)
})

test('[G13] only a refusal of the host ends the attempts to connect', async () => {
  hostAnswers(403)
  await expect(enter('ABCDE-FGHIJ')).rejects.toBeInstanceOf(Refused)
  hostAnswers(429)
  await expect(enter('ABCDE-FGHIJ')).rejects.not.toBeInstanceOf(Refused)
})
