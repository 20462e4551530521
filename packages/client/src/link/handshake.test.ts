import { describe, expect, test } from 'vitest'
import { untilIdle } from '../../../host/test/held-flushes.ts'
import { uri, state, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import type { ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U4] [U4.1] reconnect names only channels whose state is valid up to the last seen number, and no channel', () => {
  /**
   * In each case the host starts a new sequence and sends no snapshot of the chat, so the client subscribes again. Then
   * the link is cut.
   */
  const cases: [string, (host: ScriptedHost) => Promise<void>][] = [
    [
      'after a new initialize',
      async (host) => {
        const { id } = await host.request('reconnect')
        host.send({ id, error: { code: -32008, message: 'unknown' } })
        await host.respond('initialize', { protocolVersion: '1.0.0', serverSeq: 90, snapshots: [] }, 1)
      },
    ],
    [
      'after snapshots of other channels',
      async (host) => {
        const other = {
          resource: 'ahp-chat:/two',
          fromSeq: 90,
          state: { ...state, resource: 'ahp-chat:/two' },
        }
        await host.respond('reconnect', { type: 'snapshot', snapshots: [other] })
      },
    ],
  ]
  test.each(cases)('%s', async (_, begin) => {
    const { host, client, chat } = await subscribedClient()
    const two = client.subscribe('chat', 'ahp-chat:/two', { view: { turns: 1 } })
    await host.respond('subscribe', { snapshot: { ...snapshot(10), resource: two.uri } }, 1)
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    await begin(host)
    await host.request('subscribe', 2)
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    const { params } = await host.request('reconnect', 1)
    expect(params['subscriptions']).not.toContain(chat.uri)
  })

  test('that is being fetched again because its state was invalid', async () => {
    const { host, client } = await subscribedClient()
    host.sendAction(uri, 11, { type: 'chat/delta', turnId: 'none', partId: 'none', content: 'x' })
    await host.request('subscribe', 1)
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    expect((await host.request('reconnect')).params['subscriptions']).toEqual([])
  })

  test('that was gone: a new handle subscribes again', async () => {
    const { host, client, chat } = await subscribedClient()
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [uri] })
    await untilIdle()
    expect(chat.status).toBe('gone')
    const again = client.subscribe('chat', uri)
    await host.respond('subscribe', { snapshot: snapshot(20) }, 1)
    expect((await again.ready()).title).toBe('')
    expect([chat.status, again.status]).toEqual(['gone', 'open'])
    chat.release()
    await untilIdle()
    expect(host.received.some(({ method }) => method === 'unsubscribe')).toBe(false)
  })
})

test('[U4.5] a channel that the host has set aside as damaged is gone with that reason', async () => {
  const { host, client, chat } = await subscribedClient()
  host.cut()
  await untilIdle()
  client.clock.advance(1_000)
  const damaged = { [uri]: `the stored history of ${uri} is damaged` }
  const _meta = { 'x-atrium': { damaged } }
  await host.respond('reconnect', { type: 'replay', actions: [], missing: [uri], _meta })
  await untilIdle()
  expect(chat.status).toBe('gone')
  expect(chat.problem).toMatchObject({ code: -32603, message: damaged[uri] })
})

test.each([
  null,
  1,
  { 'x-atrium': null },
  { 'x-atrium': { damaged: [] } },
  { 'x-atrium': { damaged: { [uri]: 1 } } },
])('[U5] with the _meta %j a missing channel is just gone', async (_meta) => {
  const { host, client, chat } = await subscribedClient()
  host.cut()
  await untilIdle()
  client.clock.advance(1_000)
  await host.respond('reconnect', { type: 'replay', actions: [], missing: [uri], _meta })
  await untilIdle()
  expect(chat.problem).toMatchObject({ code: -32008 })
})

test.each(['reconnect', 'initialize'])(
  '[U4.6] a loss that the answer to %s tells of is a problem',
  async (method) => {
    const { host, client } = await subscribedClient()
    const problems: unknown[] = []
    client.onProblem((problem) => problems.push(problem))
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    const _meta = { 'x-atrium': { lost: 'the newest changes are lost' } }
    if (method === 'reconnect')
      await host.respond('reconnect', { type: 'snapshot', snapshots: [snapshot(20)], _meta })
    else {
      const { id } = await host.request('reconnect')
      host.send({ id, error: { code: -32008, message: 'unknown' } })
      await host.respond('initialize', { protocolVersion: '1.0.0', serverSeq: 90, snapshots: [], _meta }, 1)
    }
    await untilIdle()
    expect(problems).toContainEqual({ kind: 'rollback', detail: 'the newest changes are lost' })
  },
)
