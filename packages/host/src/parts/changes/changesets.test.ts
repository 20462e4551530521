import { changesOf } from '../../catalog/change-tracking.ts'
import type { SessionState } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { beginTurn, call, capturedSession, endTurn } from '../../../test/captures/captured-session.ts'
import { changeset, pathsIn, stateOf, untilChangeset } from '../../../test/captures/changeset-client.ts'
import { session } from '../../../test/held-flushes.ts'
import { accepted, chat, chatOf, sessionOf, started, truncated } from '../../../test/two-client-session.ts'
import { until } from '../../../test/scripted-agent.ts'

const turnOf = (turnId: string, owner = chat) => `${owner}/changeset/turn/${turnId}`

async function edited() {
  const all = await capturedSession()
  all.write('kept.txt', 'one\ntwo\n')
  all.write('gone.txt', 'bye\n')
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    all.write('kept.txt', 'one\n2\nthree\n')
    all.write('new.txt', 'hi\n')
    all.remove('gone.txt')
  })
  await endTurn(all, run)
  return all
}

test('[O35] the catalogues of a session and of its chat name the changesets', async () => {
  const all = await edited()
  await until(() => sessionOf(all).changesets !== undefined)
  const kinds = (state: { readonly changesets?: SessionState['changesets'] }) =>
    state.changesets?.map(({ changeKind, uriTemplate }) => [changeKind, uriTemplate])
  expect(kinds(sessionOf(all))).toEqual([['session', `${session}/changeset/session`]])
  expect(kinds(chatOf(all))).toEqual([
    ['turn', `${chat}/changeset/turn/{turnId}`],
    ['compare-turns', `${chat}/changeset/compare/{originalTurnId}/{modifiedTurnId}`],
  ])
})

test('[O35.1] [O35.2] [O35] the changeset of a turn has its files with both contents and the numbers of lines', async () => {
  const all = await edited()
  const { snapshot } = await all.ann.ask('subscribe', { channel: turnOf('t1') })
  expect(snapshot?.state).toMatchObject({ status: 'computing', files: [] })
  const state = await changeset(all.ben, turnOf('t1'))
  expect(state.status).toBe('ready')
  expect(pathsIn(state)).toEqual(['gone.txt', 'kept.txt', 'new.txt'])
  const [gone, kept, added] = state.files
  expect(gone?.edit).toMatchObject({ before: { uri: 'file:///a/gone.txt' }, diff: { added: 0, removed: 1 } })
  expect(gone?.edit.after).toBeUndefined()
  expect(kept?.edit.diff).toEqual({ added: 2, removed: 1 })
  expect(added?.edit.before).toBeUndefined()
  const read = async (uri = '') => (await all.ann.ask('resourceRead', { uri })).data
  expect(await read(kept?.edit.before?.content.uri)).toBe('one\ntwo\n')
  expect(await read(kept?.edit.after?.content.uri)).toBe('one\n2\nthree\n')
})

test('[O35.6] [O35] a turn on a session is one of its default chat; a name that means nothing is not found', async () => {
  const all = await edited()
  expect(pathsIn(await changeset(all.ann, turnOf('t1', session)))).toEqual([
    'gone.txt',
    'kept.txt',
    'new.txt',
  ])
  for (const name of ['turn/other', 'turn/', 'odd', 'session/x', 'compare/t1', 'turn/%E0%A4%A'])
    await expect(all.ann.ask('subscribe', { channel: `${session}/changeset/${name}` })).rejects.toThrow(
      'no channel',
    )
  await expect(all.ann.ask('subscribe', { channel: 'x:/changeset/session' })).rejects.toThrow('no channel')
  await expect(all.ann.ask('subscribe', { channel: `${chat}/changeset/session` })).rejects.toThrow(
    'no channel',
  )
})

test('[O35.6] a turn on a session may be one of another chat, and its changeset ends with that chat', async () => {
  const all = await edited()
  const other = 'ahp-chat:/b'
  await all.ann.ask('createChat', { channel: session, chat: other })
  const before = all.agent.runs.length
  await accepted(all.ann, other, started('u1'))
  const run = await all.agent.given(before)
  await call(all, run, 'c1', () => all.write('other.txt', 'hi\n'))
  run.end()
  await until(() => all.core().log.channel(other, 'chat')?.committed?.activeTurn === undefined)
  await changesOf(all.core())?.settled()
  const uri = turnOf('u1', session)
  expect(pathsIn(await changeset(all.ann, uri))).toEqual(['other.txt'])
  await changeset(all.ann, turnOf('t1', session))
  await all.restart()
  const eve = await all.join('eve', { subscribe: [session] })
  await eve.ask('disposeChat', { channel: other })
  const isKept = (at: string) => changesOf(all.core())?.isChangeset(at)
  expect([isKept(uri), isKept(turnOf('t1', session))]).toEqual([false, true])
})

test('[O35.3] [O35] binary files, modes, renames and large files are said', async () => {
  const all = await capturedSession({ limits: { captureFileBytes: 100 } })
  const folder = all.captures.folders.get('/a')
  all.write('old.txt', 'a rather long line\n')
  all.write('run.sh', 'echo\n')
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    all.remove('old.txt')
    all.write('moved.txt', 'a rather long line\n')
    folder?.set('run.sh', { bytes: new TextEncoder().encode('echo\n'), mode: '100755' })
    folder?.set('pixels', { bytes: new Uint8Array([1, 0, 2]), mode: '100644' })
    all.write('large.txt', 'x'.repeat(101))
  })
  await endTurn(all, run)
  const state = await changeset(all.ann, turnOf('t1'))
  const about = Object.fromEntries(state.files.map(({ id, _meta }) => [id.slice(10), _meta?.['x-atrium']]))
  expect(about).toMatchObject({
    'large.txt': { omitted: expect.stringContaining('larger') },
    pixels: { binary: true },
    'run.sh': { modes: { before: '100644', after: '100755' } },
  })
  const moved = state.files.find(({ id }) => id.endsWith('moved.txt'))
  expect(moved?.edit).toMatchObject({
    before: { uri: 'file:///a/old.txt' },
    after: { uri: 'file:///a/moved.txt' },
  })
  const large = state.files.find(({ id }) => id.endsWith('large.txt'))
  expect(large?.edit.diff).toBeUndefined()
  const uri = large?.edit.after?.content.uri ?? ''
  await expect(all.ann.ask('resourceRead', { uri })).rejects.toThrow('not stored')
})

test('[O35.4] [O35] a turn that was not captured has a changeset in error, with the reason', async () => {
  const all = await capturedSession()
  all.captures.failing = 'The files of the home folder are not recorded.'
  await endTurn(all, await beginTurn(all, 't1'))
  const state = await changeset(all.ann, turnOf('t1'))
  expect(state).toMatchObject({ status: 'error', files: [] })
  expect(state.error?.message).toContain('The files of the home folder are not recorded.')
})

test('[O35] the changes between two turns, of a session, of a branch and since the last commit', async () => {
  const all = await edited()
  all.write('person.txt', 'by hand\n')
  const run = await beginTurn(all, 't2')
  await call(all, run, 'c1', () => all.write('second.txt', 'more\n'))
  await endTurn(all, run)
  expect(pathsIn(await changeset(all.ann, `${chat}/changeset/compare/t1/t2`))).toEqual([
    'person.txt',
    'second.txt',
  ])
  const everything = ['gone.txt', 'kept.txt', 'new.txt', 'person.txt', 'second.txt']
  expect(pathsIn(await changeset(all.ann, `${session}/changeset/session`))).toEqual(everything)
  const committed = new Map(all.captures.folders.get('/a'))
  all.captures.heads.set('/a', committed)
  all.write('uncommitted.txt', 'x\n')
  const state = await changeset(all.ann, `${session}/changeset/uncommitted`)
  expect(pathsIn(state)).toEqual(['uncommitted.txt'])
  expect(state.files[0]?.edit.after?.content.uri).toBe('file:///a/uncommitted.txt')
  all.captures.branches.set('/a', new Map([...committed].filter(([path]) => path !== 'second.txt')))
  expect(pathsIn(await changeset(all.ann, `${session}/changeset/branch`))).toEqual([
    'second.txt',
    'uncommitted.txt',
  ])
})

test('[O35.2] [O35.4] [O35] subscribers see the changes of a running turn at its end without asking again', async () => {
  const all = await edited()
  await changeset(all.ben, `${session}/changeset/session`)
  const run = await beginTurn(all, 't2')
  await call(all, run, 'c1', () => all.write('live.txt', 'x\n'))
  expect(pathsIn(await changeset(all.ann, turnOf('t2')))).toEqual(['live.txt'])
  await endTurn(all, run)
  const state = await untilChangeset(
    all.ben,
    `${session}/changeset/session`,
    ({ files }) => files.length === 4,
  )
  expect(pathsIn(state)).toContain('live.txt')
})

test('[O36] the mark of a reviewed file is durable, and goes when the file changes', async () => {
  const all = await edited()
  const uri = `${session}/changeset/session`
  await changeset(all.ann, uri)
  const marked = { type: 'changeset/filesReviewChanged', files: ['file:///a/kept.txt'], reviewed: true }
  await accepted(all.ann, uri, marked)
  await all.restart('crash')
  const ann = await all.join('ann')
  const marks = async () =>
    (await changeset(ann, uri)).files.flatMap(({ id, reviewed }) => (reviewed ? [id] : []))
  expect(await marks()).toEqual(['file:///a/kept.txt'])
  all.write('kept.txt', 'changed again\n')
  await ann.ask('subscribe', { channel: chat })
  ann.peer.notify('unsubscribe', { channel: uri })
  await until(() => !all.core().jobs.has(uri))
  await ann.ask('subscribe', { channel: uri })
  await untilChangeset(ann, uri, ({ files }) => files.every(({ reviewed }) => reviewed !== true))
  expect(stateOf(ann, uri).files).toHaveLength(3)
})

test('[O35.2] a changeset that nobody followed says that it is recomputing, and then shows the files of now', async () => {
  const all = await edited()
  const uri = `${session}/changeset/session`
  await changeset(all.ann, uri)
  all.ann.peer.notify('unsubscribe', { channel: uri })
  await until(() => !all.core().jobs.has(uri))
  all.remove('new.txt')
  const { snapshot } = await all.ben.ask('subscribe', { channel: uri })
  expect(snapshot?.state).toMatchObject({ status: 'recomputing' })
  const first = await untilChangeset(all.ben, uri, ({ status }) => status === 'ready')
  expect(pathsIn(first)).toEqual(['gone.txt', 'kept.txt'])
  // It is followed now.
  const again = await all.ann.ask('subscribe', { channel: uri })
  expect(again.snapshot?.state).toMatchObject({ status: 'ready' })
})

test('[O35.5] [O35] a changeset ends with its turn, its chat and its session', async () => {
  const all = await edited()
  await endTurn(all, await beginTurn(all, 't2'))
  await changeset(all.ann, turnOf('t1'))
  await changeset(all.ann, turnOf('t2'))
  await changeset(all.ann, `${session}/changeset/session`)
  await accepted(all.ann, chat, truncated('t1'))
  await until(() => !changesOf(all.core())?.isChangeset(turnOf('t2')))
  expect(changesOf(all.core())?.isChangeset(turnOf('t1'))).toBe(true)
  await all.ann.ask('disposeSession', { channel: session })
  for (const uri of [turnOf('t1'), `${session}/changeset/session`]) {
    expect(all.core().log.channel(uri)).toBeUndefined()
    await expect(all.ben.ask('subscribe', { channel: uri })).rejects.toThrow('no channel')
  }
  expect(await all.core().records.list('changeset/')).toEqual([])
})
