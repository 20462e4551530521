import { expect, test } from 'vitest'
import {
  beginTurn,
  call,
  capturedSession,
  endTurn,
  recordOf,
} from '../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../test/captures/captured-session.ts'
import { changeset, untilChangeset } from '../../../test/captures/changeset-client.ts'
import { session, untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import type { Client, TestHostOptions } from '../../../test/test-host.ts'
import { chat } from '../../../test/two-client-session.ts'
import { CaptureFailed } from '../../ports/captures.ts'

const uri = `${chat}/changeset/turn/t1`
const at = (path: string) => ({ kind: 'resource', resource: `file:///a/${path}` }) as const

/** A turn that changed two files by calls, while a person changed a third one that the turn had changed, too. */
async function turnDone(options: TestHostOptions = {}): Promise<CapturedSession> {
  const all = await capturedSession(options)
  all.write('one.txt', '1\n')
  all.write('both.txt', 'x\n')
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    all.write('one.txt', 'one\n')
    all.write('new.txt', 'new\n')
    all.write('both.txt', 'x\nagent\n')
  })
  all.write('both.txt', 'x\nagent\nperson\n')
  await endTurn(all, run)
  return all
}

const invoke = (client: Client, operationId: string, target?: ReturnType<typeof at>, channel = uri) =>
  client.ask('invokeChangesetOperation', { channel, operationId, ...(target && { target }) })

const operation = async (client: Client, id: string) =>
  (await changeset(client, uri)).operations?.find((each) => each.id === id)

test('[O37] an undo sets back what the turn changed, lists conflicts first, and leaves them as they are', async () => {
  const all = await turnDone()
  const undo = await operation(all.ann, 'undo')
  expect(undo?.confirmation).toContain('new.txt, one.txt')
  expect(undo?.confirmation).toContain('others changed them, too: both.txt')
  const { message } = await invoke(all.ann, 'undo')
  expect(message).toContain('2 files were set back')
  expect(message).toContain('both.txt')
  expect([all.text('one.txt'), all.text('new.txt')]).toEqual(['1\n', undefined])
  expect(all.text('both.txt')).toBe('x\nagent\nperson\n')
})

test('[O37.4] [O37] a redo does again what an undo has taken back, and nothing else', async () => {
  const all = await turnDone()
  expect((await operation(all.ann, 'redo'))?.status).toBe('disabled')
  await expect(invoke(all.ann, 'redo')).rejects.toThrow('There is no file that this can change now')
  await invoke(all.ann, 'undo')
  await untilChangeset(all.ann, uri, ({ operations }) => operations?.[1]?.status === 'idle')
  all.write('one.txt', 'a person, later\n')
  const { message } = await invoke(all.ann, 'redo')
  expect(message).toContain('1 file was changed again')
  expect(message).toContain('one.txt')
  expect([all.text('new.txt'), all.text('one.txt')]).toEqual(['new\n', 'a person, later\n'])
  expect((await recordOf(all, 't1'))?.folders[0]?.undone).toEqual(['one.txt'])
})

test('[O37] an undo on a disk that is full changes nothing, and says so', async () => {
  const disk = { full: false }
  const all = await turnDone({ full: () => disk.full })
  await changeset(all.ann, uri)
  disk.full = true
  await expect(invoke(all.ann, 'undo')).rejects.toThrow('Nothing was changed: the disk of the host is full.')
  expect([all.text('one.txt'), all.text('new.txt')]).toEqual(['one\n', 'new\n'])
})

test('[O37] an undo that fills the disk says what was changed', async () => {
  const disk = { full: false }
  const all = await turnDone({ full: () => disk.full })
  const { applyAll } = all.captures
  all.captures.applyAll = async (...given) => {
    disk.full = true
    return applyAll.apply(all.captures, given)
  }
  await expect(invoke(all.ann, 'undo')).rejects.toThrow(
    '2 files were set back. This is not stored yet: the disk of the host is full.',
  )
  expect([all.text('one.txt'), all.text('new.txt')]).toEqual(['1\n', undefined])
})

test('[O37] a file that was not set back on a full disk names its copy', async () => {
  const disk = { full: false }
  const all = await turnDone({ full: () => disk.full })
  const { apply } = all.captures
  all.captures.apply = async (...given) => {
    disk.full = true
    return apply.apply(all.captures, given)
  }
  await expect(invoke(all.ann, 'undo-with-copy', at('both.txt'))).rejects.toThrow(
    'The file was not changed, and a copy of it is in both.txt.before-undo: the disk of the host is full.',
  )
  expect([all.text('both.txt'), all.text('both.txt.before-undo')]).toEqual(
    Array(2).fill('x\nagent\nperson\n'),
  )
})

test('[O37] an undo of one file leaves the others', async () => {
  const all = await turnDone()
  await invoke(all.ann, 'undo', at('new.txt'))
  expect([all.text('one.txt'), all.text('new.txt')]).toEqual(['one\n', undefined])
})

test('[O37] a file that was changed after the turn is a conflict, also if it changes while the undo runs', async () => {
  const all = await turnDone()
  all.write('one.txt', 'later\n')
  const { applyAll } = all.captures
  all.captures.applyAll = async (...given) => {
    all.write('new.txt', 'at the last moment\n')
    return applyAll.apply(all.captures, given)
  }
  const { message } = await invoke(all.ann, 'undo')
  expect(message).toContain('0 files were set back')
  expect([all.text('one.txt'), all.text('new.txt')]).toEqual(['later\n', 'at the last moment\n'])
  expect((await recordOf(all, 't1'))?.folders[0]?.undone).toEqual([])
})

test('[O38] a conflict has three choices: keep the file, undo with a copy, undo anyway', async () => {
  const all = await turnDone()
  const { operations = [] } = await changeset(all.ann, uri)
  const choices = operations.filter(({ group }) => group === 'conflict')
  expect(choices.map(({ id, scopes }) => [id, scopes])).toEqual([
    ['keep', ['resource']],
    ['undo-with-copy', ['resource']],
    ['undo-anyway', ['resource']],
  ])
  await expect(invoke(all.ann, 'undo-anyway', at('one.txt'))).rejects.toThrow(
    'There is nothing to decide here',
  )
  await expect(invoke(all.ann, 'undo-anyway', at('other.txt'))).rejects.toThrow('has not changed that file')
  all.write('both.txt.before-undo', 'a person’s')
  expect((await invoke(all.ann, 'undo-with-copy', at('both.txt'))).message).toContain(
    'both.txt.before-undo-2',
  )
  expect(all.text('both.txt')).toBe('x\n')
  expect(all.text('both.txt.before-undo')).toBe('a person’s')
  expect(all.text('both.txt.before-undo-2')).toBe('x\nagent\nperson\n')
})

test('[O37.1] [O38] undo anyway takes the changes of others back, too, and the safety capture has them', async () => {
  const all = await turnDone()
  await changeset(all.ann, uri)
  await invoke(all.ann, 'undo-anyway', at('both.txt'))
  expect(all.text('both.txt')).toBe('x\n')
  const { safety = '', start = '' } = (await recordOf(all, 't1'))?.folders[0] ?? {}
  const [both] = (await all.captures.compare(start, safety)).filter(({ path }) => path === 'both.txt')
  expect(new TextDecoder().decode(await all.captures.read(both?.after?.content ?? ''))).toBe(
    'x\nagent\nperson\n',
  )
})

test('[O38] a file that is kept is no conflict any more, for all clients', async () => {
  const all = await turnDone()
  await changeset(all.ben, uri)
  await invoke(all.ann, 'keep', at('both.txt'))
  const state = await untilChangeset(all.ben, uri, ({ operations }) => operations?.length === 2)
  expect(state.files.find(({ id }) => id.endsWith('both.txt'))?._meta).toEqual({
    'x-atrium': { undo: 'kept' },
  })
})

test('[O38.1] [O38] an unknown operation, a missing target and a changeset that is none are errors, and change nothing', async () => {
  const all = await turnDone()
  await expect(invoke(all.ann, 'odd')).rejects.toMatchObject({ code: -32602 })
  await expect(invoke(all.ann, 'keep')).rejects.toMatchObject({ code: -32602 })
  const range = { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } }
  const target = { kind: 'range', resource: 'file:///a/one.txt', range } as const
  const asked = all.ann.ask('invokeChangesetOperation', { channel: uri, operationId: 'undo', target })
  await expect(asked).rejects.toMatchObject({ code: -32602 })
  await expect(invoke(all.ann, 'undo', undefined, session)).rejects.toThrow('no changeset')
  await expect(invoke(all.ann, 'undo', undefined, `${chat}/changeset/turn/none`)).rejects.toThrow(
    'no changeset',
  )
  expect(all.text('one.txt')).toBe('one\n')
})

test('[O38.3] [O38] a turn in progress cannot be undone; an undo beside a running turn makes the paths shared for that turn', async () => {
  const all = await turnDone()
  const run = await beginTurn(all, 't2')
  await expect(invoke(all.ann, 'undo', undefined, `${chat}/changeset/turn/t2`)).rejects.toThrow()
  await call(all, run, 'c1', () => all.write('two.txt', '2\n'))
  await invoke(all.ann, 'undo')
  await endTurn(all, run)
  expect((await recordOf(all, 't2'))?.folders[0]?.shared).toEqual(['new.txt', 'one.txt'])
})

test('[O38.2] [O37] a host that is killed during an undo can undo and redo afterwards', async () => {
  const all = await turnDone()
  const { applyAll } = all.captures
  let begun = false
  all.captures.applyAll = () => new Promise(() => (begun = true))
  void invoke(all.ann, 'undo').catch(() => {})
  await until(() => begun)
  all.captures.applyAll = applyAll
  await all.restart('crash')
  await untilIdle()
  const ann = await all.join('ann')
  await invoke(ann, 'undo')
  expect([all.text('one.txt'), all.text('new.txt')]).toEqual(['1\n', undefined])
  await invoke(ann, 'redo')
  expect([all.text('one.txt'), all.text('new.txt')]).toEqual(['one\n', 'new\n'])
})

test('[O39] a file is set back to the last commit only if it is as the changeset shows it', async () => {
  const all = await capturedSession()
  all.write('a.txt', 'committed\n')
  all.captures.heads.set('/a', new Map(all.captures.folders.get('/a')))
  all.write('a.txt', 'changed\n')
  all.write('b.txt', 'new\n')
  const channel = `${session}/changeset/uncommitted`
  const { operations } = await changeset(all.ann, channel)
  expect(operations?.map(({ id, scopes }) => [id, scopes])).toEqual([['discard', ['resource', 'range']]])
  await expect(invoke(all.ann, 'discard', at('c.txt'), channel)).rejects.toThrow('does not show')
  await invoke(all.ann, 'discard', at('b.txt'), channel)
  expect(all.text('b.txt')).toBeUndefined()
  all.write('a.txt', 'changed meanwhile\n')
  await untilChangeset(all.ann, channel, ({ files }) => files.length === 1)
})

test('[O39] a discard of a file that changed since it was shown is refused', async () => {
  const all = await capturedSession()
  all.write('a.txt', 'committed\n')
  all.captures.heads.set('/a', new Map(all.captures.folders.get('/a')))
  all.write('a.txt', 'changed\n')
  const channel = `${session}/changeset/uncommitted`
  await changeset(all.ann, channel)
  all.write('a.txt', 'changed meanwhile\n')
  await expect(invoke(all.ann, 'discard', at('a.txt'), channel)).rejects.toThrow('Look at it again')
  expect(all.text('a.txt')).toBe('changed meanwhile\n')
  await untilIdle()
  await invoke(all.ann, 'discard', at('a.txt'), channel)
  expect(all.text('a.txt')).toBe('committed\n')
})

test('[O16] [O16.3] if the captures of a turn are damaged, its changeset and its undo say so, and the next turn goes on', async () => {
  const all = await turnDone()
  const { captures } = all
  const compare = captures.compare.bind(captures)
  captures.compare = () => Promise.reject(new CaptureFailed('The record of these files is damaged.'))
  const { status, error } = await changeset(all.ann, uri)
  expect([status, error?.message]).toEqual(['error', 'The record of these files is damaged.'])
  await expect(invoke(all.ann, 'undo')).rejects.toThrow('The record of these files is damaged.')
  captures.compare = compare
  const run = await beginTurn(all, 't2')
  await call(all, run, 'c2', () => all.write('next.txt', 'next\n'))
  await endTurn(all, run)
  const next = `${chat}/changeset/turn/t2`
  await changeset(all.ann, next)
  await invoke(all.ann, 'undo', undefined, next)
  expect([all.text('next.txt'), all.text('one.txt')]).toEqual([undefined, 'one\n'])
})
