import { describe, expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import type { Client } from '../../test/test-host.ts'
import {
  chat,
  chatOf,
  message,
  session,
  sessionOf,
  started,
  oneClientSession,
} from '../../test/one-client-session.ts'

/** Starts a turn that never ends, so that messages stay queued. */
async function busy() {
  const found = await oneClientSession({
    ...readyAgent(),
    async *run({ when }) {
      await when(() => false)
      yield* []
    },
  })
  await found.ann.echo(found.ann.dispatch(chat, started('t')))
  return found
}

/** Queues three messages of this total length. */
async function queue(ann: Client, length: number): Promise<readonly (string | undefined)[]> {
  const around = JSON.stringify(message('')).length
  const thirds = [0, 1].map(() => Math.floor(length / 3))
  const lengths = [...thirds, length - thirds.length * Math.floor(length / 3)]
  const reasons: (string | undefined)[] = []
  for (const [at, each] of lengths.entries()) {
    const text = 'x'.repeat(each - around)
    const set = { type: 'chat/pendingMessageSet', kind: 'queued', id: `m${at}`, message: message(text) }
    reasons.push((await ann.echo(ann.dispatch(chat, set))).rejectionReason)
  }
  return reasons
}

describe('[S-23] the state that every subscriber is sent is bounded', () => {
  test('[S-57 pendingLength] at 8,388,608: messages are queued', async () => {
    const { ann } = await busy()
    expect(await queue(ann, 8_388_608)).toEqual([undefined, undefined, undefined])
    expect(chatOf(ann).queuedMessages).toHaveLength(3)
  })

  test('[S-57 pendingLength] past 8,388,608: a message is refused, and may replace another', async () => {
    const { all, ann } = await busy()
    const [, , reason] = await queue(ann, 8_388_609)
    expect(reason).toContain('8388608 characters')
    expect(chatOf(ann).queuedMessages).toHaveLength(2)
    all.world.advance(5000)
    const again = { type: 'chat/pendingMessageSet', kind: 'queued', id: 'm0', message: message('short') }
    expect((await ann.echo(ann.dispatch(chat, again))).rejectionReason).toBeUndefined()
  })

  /** Three clients provide tools of this total length. */
  const provide = async (length: number) => {
    const { all, ann } = await oneClientSession(readyAgent())
    const reasons: (string | undefined)[] = []
    const third = Math.floor(length / 3)
    for (const [clientId, each] of [
      ['ben', third],
      ['cem', third],
      ['dan', length - 2 * third],
    ] as const) {
      const client = await all.join(clientId)
      const clientOf = (displayName: string) => ({ clientId, displayName, tools: [] })
      const activeClient = clientOf('x'.repeat(each - JSON.stringify(clientOf('')).length))
      const set = { type: 'session/activeClientSet', activeClient }
      reasons.push((await client.echo(client.dispatch(session, set))).rejectionReason)
    }
    return { ann, reasons }
  }

  test('[S-57 lentLength] at 8,388,608: accepted', async () => {
    const { ann, reasons } = await provide(8_388_608)
    expect(reasons).toEqual([undefined, undefined, undefined])
    await ann.until(() => sessionOf(ann).activeClients.length === 3)
  })

  test('[S-57 lentLength] past 8,388,608: refused', async () => {
    const { reasons } = await provide(8_388_609)
    expect(reasons).toEqual([undefined, undefined, expect.stringContaining('8388608 characters')])
  })
})
