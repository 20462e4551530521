import { kindNamed } from '@atrium/protocol/channels'
import { checkAction } from '@atrium/protocol/kind'
import { defaultChatUri } from '@atrium/protocol/uri'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import { testWorld } from '../../../test/world.ts'
import { TextBatch, textDeltaOf } from './text-batch.ts'
import type { TextDelta } from './text-batch.ts'
import type { Agent } from '../../ports/agent.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)
const delta = (content: string, partId = 'p', type = 'chat/delta') => ({ type, turnId: 't', partId, content })

function recordedBatch() {
  const appended: string[][] = []
  const append = (merged: TextDelta, deltas: readonly TextDelta[]) =>
    appended.push([merged.content, ...deltas.map(({ content }) => content)])
  return { batch: new TextBatch(testWorld(), append), appended }
}

const idle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

describe('[N7] a batch of text deltas', () => {
  test('is appended when the event loop is free, or before another action', async () => {
    const { batch, appended } = recordedBatch()
    for (const text of ['a', 'b']) batch.add(delta(text))
    expect(appended).toEqual([])
    await idle()
    expect(appended).toEqual([['ab', 'a', 'b']])
    batch.add(delta('c'))
    batch.flush()
    batch.flush()
    await idle()
    expect(appended.slice(1)).toEqual([['c', 'c']])
  })

  test('has deltas of one part and one type only', () => {
    const { batch, appended } = recordedBatch()
    for (const each of [delta('a'), delta('b', 'q'), delta('c', 'q', 'chat/reasoning')]) batch.add(each)
    batch.flush()
    expect(appended.map(([merged]) => merged)).toEqual(['a', 'b', 'c'])
  })

  test('[N7.2] is bounded by number and by length, and may be dropped', async () => {
    const { batch, appended } = recordedBatch()
    const asked = new TextBatch(
      testWorld(),
      () => {},
      () => true,
    )
    for (let i = 0; i < 16; i++) asked.add(delta('x'))
    expect(asked.full).toBe(true)
    for (let i = 0; i < 127; i++) batch.add(delta('x'))
    expect(batch.full).toBe(false)
    batch.add(delta('x'))
    expect(batch.full).toBe(true)
    batch.end()
    expect(batch.full).toBe(false)
    batch.add(delta('y'.repeat(70_000)))
    expect(appended).toHaveLength(2)
    batch.add(delta('z'))
    batch.drop()
    await idle()
    expect(appended).toHaveLength(2)
  })
})

test('[N1] a delta that passes the hand-written check passes the schema', () => {
  const odd = fc.oneof(fc.string(), fc.constantFrom('__proto__', '\u202e', '\ud800', ''), fc.anything())
  const type = fc.constantFrom('chat/delta', 'chat/reasoning', 'chat/usage')
  const output = fc.record(
    { type, partId: odd, content: odd, _meta: odd, turnId: odd },
    { requiredKeys: ['type'] },
  )
  const kind = kindNamed('chat')
  if (!kind) throw new Error('no chats')
  fc.assert(
    fc.property(output, (one) => {
      const taken = textDeltaOf(one, 't')
      if (taken) expect(checkAction(kind, taken)).toEqual({ ok: true, value: { ...one, turnId: 't' } })
    }),
  )
  for (const nothing of [null, undefined, 'chat/delta', []]) expect(textDeltaOf(nothing, 't')).toBeUndefined()
  expect(textDeltaOf({ type: 'chat/delta', partId: 'p', content: '' }, 't')).toEqual(delta(''))
  expect(textDeltaOf({ type: 'chat/delta', partId: 'p', content: '', _meta: {} }, 't')).toBeUndefined()
})

describe('[L12] a turn of many deltas', () => {
  const count = 1000
  const talkative: Agent = {
    ...readyAgent(),
    async *run({ turnId }) {
      yield { type: 'chat/responsePart', part: { kind: 'markdown', id: `${turnId}#0`, content: '' } }
      for (let i = 0; i < count; i++) yield { type: 'chat/delta', partId: `${turnId}#0`, content: `${i} ` }
    },
  }
  const deltas = ({ envelopes }: Client) => envelopes.filter(({ action }) => action.type === 'chat/delta')

  test('[N7.1] sends each delta at a latency of 0, few messages to other clients, and the same state to all', async () => {
    const all = await testHost({ agents: [talkative] })
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session })
    const ben = await all.join('ben')
    await ann.ask('subscribe', { channel: chat })
    await ben.ask('subscribe', { channel: chat, delivery: { maxLatencyMs: 0 } })
    const message = { text: 'go', origin: { kind: 'user' } }
    const startedAt = '2026-01-01T00:00:00Z'
    ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', startedAt, message })
    for (const client of [ann, ben])
      await client.until(() => client.envelopes.some(({ action }) => action.type === 'chat/turnComplete'))
    expect(deltas(ben)).toHaveLength(count)
    expect(deltas(ann).length).toBeLessThan(count / 10)
    expect(ann.state(chat)).toEqual(ben.state(chat))
    expect(deltas(ann).at(-1)?.serverSeq).toBe(deltas(ben).at(-1)?.serverSeq)
    // When no subscriber asks for a latency of 0, few actions are stored.
    ben.peer.notify('unsubscribe', { channel: chat })
    const { lastSeen } = ann
    ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 'u', startedAt, message })
    await ann.until(() => deltas(ann).length > 0 && (ann.state(chat)['turns'] as unknown[]).length === 2)
    await all.core().log.settled()
    const { envelopes } = await all.store().log.read([chat], lastSeen, all.core().log.last)
    expect(envelopes.length).toBeLessThan(count / 50)
    const cat = await all.join('cat', { subscribe: [chat] })
    expect(cat.state(chat)['turns']).toEqual(ann.state(chat)['turns'])
  })
})
