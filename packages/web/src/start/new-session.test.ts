import type { Client } from '@atrium/client/client'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { expect, test } from 'vitest'
import { createSession } from './new-session.ts'

const wanted = { provider: 'guide', path: '/a', config: {}, draft: { text: 'say hello', attachments: [] } }

// Only these members of a client are used here: hence the cast.
const client = (created: () => Promise<unknown>, sent?: Outcome) =>
  ({ ask: created, dispatch: () => Promise.resolve(sent) }) as unknown as Client

const creates = () => Promise.resolve({})
const accepted: Outcome = { outcome: 'accepted', serverSeq: 1 }

test.each([
  [
    'its creation is refused',
    client(() => Promise.reject(new Error('no such agent'))),
    'The session was not created: no such agent',
  ],
  [
    'the link is lost during its creation',
    client(() => Promise.reject(new LinkClosed('the link is closed'))),
    'It is not known whether the session was created: the link is closed',
  ],
  [
    'its message is refused',
    client(creates, { outcome: 'refused', reason: 'too long' }),
    'The session was created, but its message was not sent: too long',
  ],
  [
    'the link is lost while its message is sent',
    client(creates, { outcome: 'lost', reason: 'the link is closed' }),
    'It is not known whether the message was sent to the created session: the link is closed',
  ],
])('[U16] the page says what of a new session was done if %s', async (_, given, words) => {
  await expect(createSession(given, wanted)).rejects.toThrow(words)
})

test('[U16] a session whose first message is accepted is opened', async () => {
  expect(await createSession(client(creates, accepted), wanted)).toMatch(/^ahp-session:/)
})
