import { kindNamed } from '@atrium/protocol/channels'
import { checkAction } from '@atrium/protocol/kind'
import { defaultChatUri } from '@atrium/protocol/uri'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { room } from '../../test/test-host.ts'
import type { Client } from '../../test/test-host.ts'
import { testWorld } from '../../test/world.ts'
import { TextBatch, textDeltaOf } from './text-batch.ts'
import type { TextDelta } from './text-batch.ts'
import type { Agent } from '../ports/agent.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)
const word = (content: string, partId = 'p', type = 'chat/delta') => ({ type, turnId: 't', partId, content })

function breath() {
  const spoken: string[][] = []
  const speak = (whole: TextDelta, words: readonly TextDelta[]) =>
    spoken.push([whole.content, ...words.map(({ content }) => content)])
  return { breath: new TextBatch(testWorld(), speak), spoken }
}

const others = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

describe('[N7] what an agent says in one breath', () => {
  test('is spoken when others have a turn, or when something else is said', async () => {
    const { breath: one, spoken } = breath()
    for (const text of ['a', 'b']) one.add(word(text))
    expect(spoken).toEqual([])
    await others()
    expect(spoken).toEqual([['ab', 'a', 'b']])
    one.add(word('c'))
    one.flush()
    one.flush()
    await others()
    expect(spoken.slice(1)).toEqual([['c', 'c']])
  })

  test('is of one part and one kind', () => {
    const { breath: one, spoken } = breath()
    for (const each of [word('a'), word('b', 'q'), word('c', 'q', 'chat/reasoning')]) one.add(each)
    one.flush()
    expect(spoken.map(([whole]) => whole)).toEqual(['a', 'b', 'c'])
  })

  test('is bounded, by words and by length, and may be dropped', async () => {
    const { breath: one, spoken } = breath()
    const asked = new TextBatch(
      testWorld(),
      () => {},
      () => true,
    )
    for (let i = 0; i < 16; i++) asked.add(word('x'))
    expect(asked.full).toBe(true)
    for (let i = 0; i < 127; i++) one.add(word('x'))
    expect(one.full).toBe(false)
    one.add(word('x'))
    expect(one.full).toBe(true)
    one.end()
    expect(one.full).toBe(false)
    one.add(word('y'.repeat(70_000)))
    expect(spoken).toHaveLength(2)
    one.add(word('z'))
    one.drop()
    await others()
    expect(spoken).toHaveLength(2)
  })
})

test('[N1] a word that is looked at by hand has the shape that the schema asks for', () => {
  const odd = fc.oneof(fc.string(), fc.constantFrom('__proto__', '\u202e', '\ud800', ''), fc.anything())
  const type = fc.constantFrom('chat/delta', 'chat/reasoning', 'chat/usage')
  const said = fc.record(
    { type, partId: odd, content: odd, _meta: odd, turnId: odd },
    { requiredKeys: ['type'] },
  )
  const kind = kindNamed('chat')
  if (!kind) throw new Error('no chats')
  fc.assert(
    fc.property(said, (one) => {
      const taken = textDeltaOf(one, 't')
      if (taken) expect(checkAction(kind, taken)).toEqual({ ok: true, value: { ...one, turnId: 't' } })
    }),
  )
  for (const nothing of [null, undefined, 'chat/delta', []]) expect(textDeltaOf(nothing, 't')).toBeUndefined()
  expect(textDeltaOf({ type: 'chat/delta', partId: 'p', content: '' }, 't')).toEqual(word(''))
  expect(textDeltaOf({ type: 'chat/delta', partId: 'p', content: '', _meta: {} }, 't')).toBeUndefined()
})

describe('[L12] a turn of many words', () => {
  const count = 1000
  const talkative: Agent = {
    ...readyAgent(),
    async *run({ turnId }) {
      yield { type: 'chat/responsePart', part: { kind: 'markdown', id: `${turnId}#0`, content: '' } }
      for (let i = 0; i < count; i++) yield { type: 'chat/delta', partId: `${turnId}#0`, content: `${i} ` }
    },
  }
  const deltas = ({ envelopes }: Client) => envelopes.filter(({ action }) => action.type === 'chat/delta')

  test('is each of them for who asks for 0, few messages for others, and the same in the end', async () => {
    const all = await room({ agents: [talkative] })
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
    // Nobody wants each any more: few actions are kept.
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
