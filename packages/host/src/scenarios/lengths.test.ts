import { describe, expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import type { Client } from '../../test/test-host.ts'
import { chat, chatOf, message, session, sessionOf, started, talk } from '../../test/one-client-session.ts'

/** In a turn that never ends, so that messages wait. */
async function busy() {
  const found = await talk({
    ...readyAgent(),
    async *run({ when }) {
      await when(() => false)
      yield* []
    },
  })
  await found.ann.echo(found.ann.dispatch(chat, started('t')))
  return found
}

/** So many characters in three messages, together. */
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

describe('[S-23] what everyone who subscribes is handed is bounded', () => {
  test('[S-57 pendingLength] at 8,388,608: messages wait', async () => {
    const { ann } = await busy()
    expect(await queue(ann, 8_388_608)).toEqual([undefined, undefined, undefined])
    expect(chatOf(ann).queuedMessages).toHaveLength(3)
  })

  test('[S-57 pendingLength] past 8,388,608: one is refused, and may be put in the place of another', async () => {
    const { all, ann } = await busy()
    const [, , reason] = await queue(ann, 8_388_609)
    expect(reason).toContain('8388608 characters')
    expect(chatOf(ann).queuedMessages).toHaveLength(2)
    all.world.advance(5000)
    const again = { type: 'chat/pendingMessageSet', kind: 'queued', id: 'm0', message: message('short') }
    expect((await ann.echo(ann.dispatch(chat, again))).rejectionReason).toBeUndefined()
  })

  /** Three clients lend so many characters, together. */
  const lend = async (length: number) => {
    const { all, ann } = await talk(readyAgent())
    const reasons: (string | undefined)[] = []
    const third = Math.floor(length / 3)
    for (const [clientId, each] of [
      ['ben', third],
      ['cem', third],
      ['dan', length - 2 * third],
    ] as const) {
      const client = await all.join(clientId)
      const lent = (displayName: string) => ({ clientId, displayName, tools: [] })
      const activeClient = lent('x'.repeat(each - JSON.stringify(lent('')).length))
      const set = { type: 'session/activeClientSet', activeClient }
      reasons.push((await client.echo(client.dispatch(session, set))).rejectionReason)
    }
    return { ann, reasons }
  }

  test('[S-57 lentLength] at 8,388,608: it is lent', async () => {
    const { ann, reasons } = await lend(8_388_608)
    expect(reasons).toEqual([undefined, undefined, undefined])
    await ann.until(() => sessionOf(ann).activeClients.length === 3)
  })

  test('[S-57 lentLength] past 8,388,608: it is refused', async () => {
    const { reasons } = await lend(8_388_609)
    expect(reasons).toEqual([undefined, undefined, expect.stringContaining('8388608 characters')])
  })
})
