import { searchOf } from './search.ts'
import { expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { chat, session, turn } from '../../../test/one-client-session.ts'
import { indexed, search, searchedHost, turnsWith } from '../../../test/search/searching.ts'
import { StoreAway } from '../../ports/lease.ts'
import { DiskFull } from '../../ports/log.ts'
import { IndexDamaged } from '../../ports/search-index.ts'
import { PendingChanges } from './pending-changes.ts'

test('[Q25.1] [Q20.1] [Q20] an index that does not answer holds up no echo, and gets the texts later', async () => {
  const { all, ann, index } = await searchedHost()
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  index.fault = (name) => (name === 'find' ? undefined : held)
  for (let i = 0; i < 20; i++) {
    await turn(ann, `t${i}`, `word w${i}`)
    all.world.advance(100)
    await untilIdle()
  }
  expect(await search(ann, 'word')).toEqual({ items: [], pending: 1 })
  release()
  await indexed(all)
  expect(await turnsWith(ann, 'w19')).toEqual(['t19'])
  expect((await search(ann, 'word')).items).toHaveLength(20)
})

test('[Q20.1] [Q20] a session that changes all the time is indexed ten times a second at most', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'word')
  await indexed(all)
  const before = index.changes.length
  let count = 0
  index.fault = async (name) => {
    if (name !== 'update') return
    await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: `Title ${++count}` }))
  }
  ann.dispatch(session, { type: 'session/titleChanged', title: 'Title' })
  for (let i = 0; i < 5; i++) {
    await untilIdle()
    all.world.advance(100)
  }
  await untilIdle()
  expect(index.changes.length - before).toBe(5)
})

test('[Q20] many changed turns of a chat are remembered as one changed chat', () => {
  const pending = new PendingChanges()
  const end = (turnId: string) => pending.committed(chat, { type: 'chat/turnComplete', turnId } as never)
  for (let i = 0; i < 500; i++) expect(end(`t${i}`)).toBe(true)
  expect(pending.of(chat)).toMatchObject({
    cut: false,
    turns: new Set(Array.from(Array(500), (_, i) => `t${i}`)),
  })
  end('t500')
  expect(pending.of(chat)).toEqual({ cut: true, turns: 'all' })
  expect(pending.committed(chat, { type: 'chat/delta' })).toBe(false)
})

test('[Q27.1] [Q27] F-02: an index that a change finds damaged is built again, and the log says so', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'first')
  await indexed(all)
  let damaged = true
  index.fault = (name) => {
    if (damaged && name === 'update') {
      damaged = false
      throw new IndexDamaged('malformed')
    }
  }
  await turn(ann, 't2', 'second')
  await indexed(all)
  expect(all.world.reports).toContainEqual({ event: 'search index rebuilt', detail: 'malformed' })
  expect(await turnsWith(ann, 'first')).toEqual(['t1', undefined])
  expect(await turnsWith(ann, 'second')).toEqual(['t2'])
})

test('[Q27.1] [Q27] F-02: an index that a search finds damaged is built again', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'first')
  await indexed(all)
  index.fault = (name) => {
    index.fault = () => {}
    if (name === 'find') throw new IndexDamaged('malformed')
  }
  expect(await search(ann, 'first')).toEqual({ items: [], pending: 1 })
  await indexed(all)
  expect(await turnsWith(ann, 'first')).toEqual(['t1', undefined])
  expect(all.world.reports.map(({ event }) => event)).toEqual(['search index rebuilt'])
})

test('[Q27.2] [Q27] F-07: on a full disk the index waits for a minute', async () => {
  const { all, ann, index } = await searchedHost()
  await indexed(all)
  let full = true
  index.fault = (name) => {
    if (full && name === 'update') throw new DiskFull('no space')
  }
  await turn(ann, 't1', 'first')
  all.world.advance(100)
  await untilIdle()
  full = false
  all.world.advance(59_000)
  await untilIdle()
  expect(await turnsWith(ann, 'first')).toEqual([])
  all.world.advance(1000)
  await indexed(all)
  expect(await turnsWith(ann, 'first')).toEqual(['t1', undefined])
  expect(all.world.reports).toEqual([])
})

test('[Q27.2] [Q27] another failure of the index is reported once, and tried again', async () => {
  const { all, ann, index } = await searchedHost()
  index.fault = () => {
    throw new Error('no thread')
  }
  await turn(ann, 't1', 'first')
  for (let i = 0; i < 3; i++) {
    all.world.advance(60_000)
    await untilIdle()
  }
  expect(all.world.reports.filter(({ event }) => event === 'indexing failed')).toHaveLength(1)
  await expect(search(ann, 'first')).rejects.toMatchObject({ code: -32603 })
  index.fault = () => {}
  all.world.advance(60_000)
  await indexed(all)
  expect(await turnsWith(ann, 'first')).toEqual(['t1', undefined])
})

test('[Q27.2] [Q27] a session that cannot be indexed holds up no other session, also after a restart', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'first')
  await ann.ask('createSession', { channel: 'mock:/other' })
  await ann.echo(ann.dispatch('mock:/other', { type: 'session/titleChanged', title: 'Other' }))
  index.refused = session
  await all.restart('crash')
  all.world.advance(5000)
  await untilIdle()
  all.world.advance(60_000)
  await untilIdle()
  const ben = await all.join('ben')
  expect(await search(ben, 'other')).toMatchObject({ items: [{ session: 'mock:/other' }], pending: 1 })
  index.refused = undefined
  all.world.advance(60_000)
  await indexed(all)
  expect(await turnsWith(ben, 'first')).toEqual(['t1', undefined])
})

test('[Q27.1] [Q27] a user can have the index built again', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'first')
  await indexed(all)
  await index.inner.clear()
  expect(await turnsWith(ann, 'first')).toEqual([])
  await ann.peer.request('x-atrium/rebuildSearch', { channel: 'ahp-root://' })
  await indexed(all)
  expect(await turnsWith(ann, 'first')).toEqual(['t1', undefined])
})

test('[Q27.1] [Q27] a rebuild that cannot empty the index is refused with the reason, and the host compares the index', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'first')
  await indexed(all)
  const { clear } = index.inner
  index.inner.clear = async () => {
    await clear.call(index.inner)
    throw new Error('no right to do this')
  }
  const rebuild = () => ann.peer.request('x-atrium/rebuildSearch', { channel: 'ahp-root://' })
  await expect(rebuild()).rejects.toMatchObject({
    message: 'the search index could not be emptied: no right to do this',
  })
  // Nobody knows what the index still has.
  expect(await search(ann, 'first')).toEqual({ items: [], pending: 1 })
  all.world.advance(60_000)
  await indexed(all)
  expect(await turnsWith(ann, 'first')).toEqual(['t1', undefined])
  index.inner.clear = () => clear.call(index.inner)
  expect(await rebuild()).toEqual({})
})

test('[Q27] F-02: a search in a damaged index that cannot be emptied fails', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'first')
  await indexed(all)
  index.fault = (name) => {
    if (name === 'find') throw new IndexDamaged('malformed')
  }
  index.inner.clear = () => Promise.reject(new StoreAway('the database is away'))
  await expect(search(ann, 'first')).rejects.toMatchObject({ code: -32603 })
})

test('[Q27.3] [Q27] a read-only host finds what the index has and changes nothing in it', async () => {
  const { all, ann, index } = await searchedHost()
  for (const id of ['t1', 't2']) await turn(ann, id, `word ${id}`)
  await indexed(all)
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't1' }))
  const before = index.changes.length
  await all.restart('crash', 'for a test')
  const ben = await all.join('ben')
  expect(await turnsWith(ben, 'word')).toEqual(['t1', undefined])
  all.world.advance(60_000)
  await untilIdle()
  expect(index.changes.length).toBe(before)
  const rebuilt = ben.peer.request('x-atrium/rebuildSearch', { channel: 'ahp-root://' })
  await expect(rebuilt).rejects.toMatchObject({ message: 'for a test' })
  index.fault = () => {
    throw new IndexDamaged('malformed')
  }
  await expect(search(ben, 'word')).rejects.toMatchObject({
    message: expect.stringContaining('cannot be read'),
  })
})

test('[Q26.2] [Q26] a chat whose stored history is damaged is left out, and the others are indexed', async () => {
  const { all, ann } = await searchedHost(readyAgent())
  await turn(ann, 't1', 'first')
  await ann.ask('createSession', { channel: 'mock:/other' })
  await ann.echo(ann.dispatch('mock:/other', { type: 'session/titleChanged', title: 'Other' }))
  await all.restart('close')
  const { log } = all.store()
  const { load } = log
  log.load = async (uri, tail) => (uri === chat ? { damaged: 'a flipped bit' } : load(uri, tail))
  await searchOf(all.core())?.rebuild()
  await indexed(all)
  const ben = await all.join('ben')
  expect((await search(ben, 'other')).items).toHaveLength(1)
  expect(await turnsWith(ben, 'first')).toEqual([undefined])
  expect(all.world.reports).toContainEqual({
    event: 'damaged channel',
    detail: expect.stringContaining('is not searched'),
  })
})
