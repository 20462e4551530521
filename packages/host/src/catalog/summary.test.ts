import { expect, test } from 'vitest'
import { askingAgent } from '../../test/agents.ts'
import { confirmed } from '../../test/tool-call-actions.ts'
import { atEveryFlush, resubscribed } from '../../test/crash.ts'
import { session } from '../../test/held-flushes.ts'
import type { Client } from '../../test/test-host.ts'
import { chat, chatOf, started } from '../../test/two-client-session.ts'

test('[H10] F-01: after a crash at any flush, a chat and its entry in the session agree', async () => {
  const act = async (ann: Client) => {
    await ann.ask('createSession', { channel: session })
    await ann.ask('subscribe', { channel: chat })
    ann.dispatch(chat, started('t1'))
    const asked = () => (ann.state(chat)['status'] as number) === 24
    await ann.until(asked)
    ann.dispatch(chat, { ...confirmed, toolCallId: 't1#call' })
  }
  const seen = new Set<number>()
  const states = await atEveryFlush(
    act,
    (all) => chatOf(all)?.turns.length === 1,
    async (wreck) => {
      const state = await resubscribed(wreck)
      if (state) seen.add(state.status)
    },
    askingAgent,
  )
  expect(states).toBeGreaterThan(4)
  // The session was idle, interrupted, and waiting for input: each of these states was on the disk at some time.
  expect(seen).toEqual(new Set([1, 2, 24]))
})
