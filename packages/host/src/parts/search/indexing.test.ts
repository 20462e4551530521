import { searchOf } from './search.ts'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { days, untilIdle } from '../../../test/held-flushes.ts'
import { two, withChats } from '../../../test/moves.ts'
import { chat, session, turn } from '../../../test/one-client-session.ts'
import { TestIndex, indexed, searchedHost, turnsWith } from '../../../test/search/searching.ts'
import type { TestHost } from '../../../test/test-host.ts'
import { fork, severalChats, turnsIn } from '../../../test/several-chats.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { TurnFailed } from '../../ports/agent.ts'

const cut = (turnId?: string) => ({ type: 'chat/truncated', ...(turnId !== undefined && { turnId }) })

test('[Q28] truncated turns are not found, from the echo of the truncation on', async () => {
  const { all, ann, index } = await searchedHost()
  for (const id of ['t1', 't2', 't3']) await turn(ann, id, `word ${id}`)
  await indexed(all)
  expect(await turnsWith(ann, 'word')).toEqual(['t3', 't2', 't1', undefined])
  const changes = index.changes.length
  await ann.echo(ann.dispatch(chat, cut('t1')))
  expect(await turnsWith(ann, 'word')).toEqual(['t1', undefined])
  expect(index.changes.length).toBe(changes)
  await indexed(all)
  const { found } = await index.inner.find({ terms: [{ text: 't3', prefix: false }], limit: 9 })
  expect(found).toEqual([])
  await ann.echo(ann.dispatch(chat, cut()))
  await indexed(all)
  expect(await turnsWith(ann, 'word')).toEqual([undefined])
})

test('[Q28] a turn that is resumed leaves the index, and comes back with all its text', async () => {
  const agent = new ScriptedAgent({ resumes: true })
  const { all, ann } = await searchedHost(agent)
  const part = (id: string, content: string) => ({
    type: 'chat/responsePart' as const,
    part: { kind: 'markdown' as const, id, content },
  })
  const ended = turn(ann, 't1', 'go')
  await untilIdle()
  agent.runs[0]?.say(part('a', 'alpha'))
  agent.runs[0]?.fail(new TurnFailed('x', 'It failed.', true))
  await ended
  await indexed(all)
  expect(await turnsWith(ann, 'alpha')).toEqual(['t1'])
  await ann.echo(ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' }))
  await indexed(all)
  expect(await turnsWith(ann, 'alpha')).toEqual([])
  await untilIdle()
  agent.runs[1]?.say(part('b', 'beta'))
  agent.runs[1]?.end()
  await untilIdle()
  await indexed(all)
  expect(await turnsWith(ann, 'alpha beta')).toEqual(['t1'])
})

test('[Q28] the turns of a disposed chat or session are not found', async () => {
  const { all, ann, index } = await searchedHost(severalChats())
  await turn(ann, 't1', 'word')
  await fork(ann, 'ahp-chat:/f', 't1')
  await indexed(all)
  expect(await turnsWith(ann, 'word')).toEqual(['t1', 't1', undefined])
  await ann.ask('disposeChat', { channel: 'ahp-chat:/f' })
  expect(await turnsWith(ann, 'word')).toEqual(['t1', undefined])
  await ann.ask('disposeSession', { channel: session })
  expect(await turnsWith(ann, 'word')).toEqual([])
  await indexed(all)
  expect((await index.inner.begin(1, [])).size).toBe(0)
})

test('[Q28] the turns of a copy are found in the copy', async () => {
  const { all, ann } = await searchedHost(severalChats())
  await turnsIn(ann, chat, ['t1', 't2', 't3'])
  await indexed(all)
  await fork(ann, 'ahp-chat:/f', 't2')
  await indexed(all)
  expect(await turnsWith(ann, 'say')).toHaveLength(6)
  expect(await turnsWith(ann, 't3')).toEqual(['t3'])
})

test('[Q28] a chat that moves is found in its new session', async () => {
  const index = new TestIndex()
  const machine = { search: index.open() }
  const { all, ann } = await withChats(severalChats(), { machine })
  await turnsIn(ann, 'ahp-chat:/b', ['b1'])
  await indexed(all)
  const destination = { kind: 'session' as const, session: two }
  await ann.ask('moveChat', { channel: 'ahp-chat:/b', destination })
  const items = async () =>
    (await searchOf(all.core())?.find({ channel: '', query: 'b1' }))?.items.filter(({ turnId }) => turnId)
  expect(await items()).toMatchObject([{ session: two, chat: 'ahp-chat:/b' }])
  await indexed(all)
  expect(await items()).toMatchObject([{ session: two, chat: 'ahp-chat:/b' }])
})

test('[Q26] after a crash the index catches up, and reads only what it lacks', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'first')
  await ann.ask('createSession', { channel: 'mock:/other' })
  ann.dispatch('mock:/other', { type: 'session/titleChanged', title: 'Other' })
  await indexed(all)
  await turn(ann, 't2', 'second')
  const before = index.changes.length
  await all.restart('crash')
  expect(index.changes.length).toBe(before)
  await indexed(all)
  const ben = await all.join('ben')
  expect(await turnsWith(ben, 'first')).toEqual(['t1', undefined])
  expect(await turnsWith(ben, 'second')).toEqual(['t2'])
  expect(new Set(index.changes.slice(before).map((change) => change.session))).toEqual(new Set([session]))
  const after = index.changes.length
  await all.restart('close')
  await indexed(all)
  expect(index.changes.length).toBe(after)
})

test('[Q26] [Q28] turns that were truncated just before a crash leave the index', async () => {
  const { all, ann, index } = await searchedHost()
  for (const id of ['t1', 't2']) await turn(ann, id, `word ${id}`)
  await indexed(all)
  await ann.echo(ann.dispatch(chat, cut('t1')))
  await all.restart('crash')
  const ben = await all.join('ben')
  expect(await turnsWith(ben, 't2')).toEqual([])
  await indexed(all)
  const { found } = await index.inner.find({ terms: [{ text: 't2', prefix: false }], limit: 9 })
  expect(found).toEqual([])
  // The note is no longer needed.
  await all.core().log.settled()
  expect(await all.core().records.list('unsearched/')).toEqual([])
})

test('[Q26] [Q28] the note of a truncation stays while another truncation is not committed yet', async () => {
  const flushes: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void flushes.push(task) : queueMicrotask(task))
  const { all, ann, index } = await searchedHost(readyAgent(), { soon })
  for (const id of ['t1', 't2', 't3']) await turn(ann, id, 'word')
  await indexed(all)
  await ann.echo(ann.dispatch(chat, cut('t2')))
  index.fault = (name) => {
    if (name !== 'update' || holding) return
    holding = true
    ann.dispatch(chat, cut('t1'))
    return untilIdle()
  }
  all.world.advance(100)
  await untilIdle()
  await untilIdle()
  expect(holding).toBe(true)
  const noted = () => all.core().records.get(`unsearched/${session}`)
  expect(await noted()).toBe('')
  holding = false
  for (const flush of flushes.splice(0)) flush()
  await untilIdle()
  await indexed(all)
  expect(await noted()).toBeUndefined()
  expect(await turnsWith(ann, 'word')).toEqual(['t1', undefined])
})

test('[Q26] sessions that were disposed of just before a crash leave the index', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'word')
  await indexed(all)
  await ann.ask('disposeSession', { channel: session })
  await all.restart('crash')
  await indexed(all)
  expect((await index.inner.begin(1, [])).size).toBe(0)
})

/** Restarts the host without an index, and then with it again. */
async function withoutIndex(all: TestHost, index: TestIndex): Promise<void> {
  index.absent = true
  await all.restart('close')
  index.absent = false
  await all.restart('close')
}

test('[Q26.1] [Q26] after an epoch without the index, every session is compared', async () => {
  const { all, ann, index } = await searchedHost()
  for (const id of ['t1', 't2']) await turn(ann, id, `word ${id}`)
  await indexed(all)
  const before = index.changes.length
  await withoutIndex(all, index)
  await indexed(all)
  expect(index.changes.length).toBeGreaterThan(before)
  expect(await turnsWith(await all.join('ben'), 'word')).toEqual(['t2', 't1', undefined])
})

test('[Q26] after short epochs in which the index was not used, only what has changed is read', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'word')
  await indexed(all)
  const before = index.changes.length
  for (let i = 0; i < 3; i++) await all.restart('close')
  await indexed(all)
  expect(index.changes.length).toBe(before)
})

test('[Q26.1] [Q26] an index that is newer than the store, which was restored, is compared with it', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'word')
  await indexed(all)
  await index.inner.begin(9e15, [all.core().log.first])
  const before = index.changes.length
  await all.restart('close')
  await indexed(all)
  expect(index.changes.length).toBeGreaterThan(before)
})

test('[Q28] retention forgets actions, and turns stay found', async () => {
  const { all, ann } = await searchedHost()
  for (const id of ['t1', 't2']) await turn(ann, id, `word ${id}`)
  await ann.echo(ann.dispatch(chat, cut('t1')))
  ann.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.retention': 1 } })
  await days(all, 3)
  expect((await all.store().log.read([chat], 0, Number.MAX_SAFE_INTEGER)).envelopes).toEqual([])
  await searchOf(all.core())?.rebuild()
  await indexed(all)
  const ben = await all.join('ben')
  expect(await turnsWith(ben, 'word')).toEqual(['t1', undefined])
})

test('[Q20] chats that sleep are read, and not woken', async () => {
  const { all, ann } = await searchedHost(readyAgent(), { tail: 2 })
  for (let i = 0; i < 60; i++) await turn(ann, `t${i}`, `word w${i}`)
  await all.restart('close')
  await searchOf(all.core())?.rebuild()
  const { wake } = all.core().log
  const woken: string[] = []
  all.core().log.wake = (uri) => (woken.push(uri), wake.call(all.core().log, uri))
  await indexed(all)
  expect(woken).toEqual([])
  expect(all.core().log.channel(chat)).toBeUndefined()
  const ben = await all.join('ben')
  expect(await turnsWith(ben, 'w0')).toEqual(['t0', undefined])
  expect(await turnsWith(ben, 'w59')).toEqual(['t59'])
})
