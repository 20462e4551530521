import { expect, test } from 'vitest'
import { linkWords } from './link-words.ts'

test.each([
  [{ state: 'live', failures: 0 }, 0, 'live', 'Live', 'Everything here is up to date.'],
  [{ state: 'live', failures: 0 }, 2, 'live', 'Live', '2 changes wait for the host.'],
  [{ state: 'connecting', failures: 0 }, 0, 'waiting', 'Connecting…', ''],
  [
    { state: 'connecting', reason: 'no host answers', failures: 1, retryInMs: 9 },
    0,
    'offline',
    'Offline, trying again',
    'No host answers.',
  ],
  [{ state: 'stale', reason: 'it sleeps', failures: 0 }, 0, 'waiting', 'Catching up…', 'It sleeps.'],
  [
    { state: 'stale', reason: 'gone', failures: 1, retryInMs: 9 },
    0,
    'offline',
    'Offline, trying again',
    'Gone.',
  ],
  [
    { state: 'stale', reason: 'gone', failures: 1, retryInMs: 9 },
    1,
    'offline',
    'Offline, 1 change waits',
    'Gone.',
  ],
  [{ state: 'closed', reason: 'refused', failures: 0 }, 0, 'offline', 'Disconnected', 'Refused.'],
] as const)('[U15] %j with %s pending: %s, "%s"', (status, pending, tone, text, detail) => {
  expect(linkWords(status, pending)).toEqual({ tone, text, detail })
})
