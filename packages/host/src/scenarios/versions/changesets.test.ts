import type { Version } from '@atrium/protocol/versions/negotiate'
import { expect, test } from 'vitest'
import { beginTurn, call, capturedSession, endTurn } from '../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../test/captures/captured-session.ts'
import { session, untilIdle } from '../../../test/held-flushes.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'
import { supportedVersions } from '../../kernel/generation.ts'

const changeset = `${session}/changeset/session`
/** The name of the session at 0.1. */
const alias = 'mock:/one'

/** A session in whose first turn the agent has changed two files. */
async function edited(limits = {}): Promise<CapturedSession> {
  const all = await capturedSession({ limits })
  all.write('kept.txt', 'one\n')
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    all.write('kept.txt', 'one\ntwo\n')
    all.write('new.txt', 'hi\n')
  })
  await endTurn(all, run)
  return all
}

async function joined(all: CapturedSession, version: Version, ...channels: readonly string[]) {
  const client = new OlderClient(all, version)
  await client.open([client.root])
  for (const channel of channels) await client.subscribe(channel)
  return client
}

/** Lets the host send its rounds of notifications until a condition holds. */
async function roundsUntil({ world }: CapturedSession, done: () => boolean): Promise<void> {
  for (; !done(); world.advance(100)) await untilIdle()
}

const diffsOf = (client: OlderClient) =>
  (client.state(alias)['summary'] as { readonly diffs?: readonly Value[] }).diffs
const shown = (client: OlderClient) =>
  diffsOf(client)?.map(({ after, before }) => ((after ?? before) as Value)['uri'])

test('[V20] [HC-1] a session has `diffs`: the files that it has changed, with their contents and numbers of lines', async () => {
  const all = await edited()
  const old = await joined(all, '0.1.0', alias)
  await old.until(() => diffsOf(old)?.length === 2)
  expect(shown(old)).toEqual(['file:///a/kept.txt', 'file:///a/new.txt'])
  const [kept] = diffsOf(old) ?? []
  expect(kept).toMatchObject({ diff: { added: 1, removed: 0 } })
  const { before, after } = kept as { before: { content: Value }; after: { content: Value } }
  expect(after.content).not.toHaveProperty('nonce')
  expect(await old.ask('resourceRead', { uri: before.content['uri'] })).toMatchObject({ data: 'one\n' })
  expect(old.envelopes.map(({ action }) => action)).toContainEqual({
    type: 'session/diffsChanged',
    session: alias,
    diffs: diffsOf(old),
  })
})

test('[V20.5] [V20] further changes replace `diffs`, and a client that comes back sees the same as a new one', async () => {
  const all = await edited()
  const old = await joined(all, '0.1.0', alias)
  await old.until(() => diffsOf(old)?.length === 2)
  const run = await beginTurn(all, 't2')
  await call(all, run, 'c1', () => all.remove('new.txt'))
  await endTurn(all, run)
  await old.until(() => diffsOf(old)?.length === 1)
  old.unplug()
  const again = await beginTurn(all, 't3')
  await call(all, again, 'c1', () => all.write('third.txt', 'x\n'))
  await endTurn(all, again)
  await old.reconnect()
  await old.until(() => diffsOf(old)?.length === 2)
  await untilIdle()
  const fresh = new OlderClient(all, '0.1.0', 'fresh')
  await fresh.open([alias])
  expect(shown(old)).toEqual(['file:///a/kept.txt', 'file:///a/third.txt'])
  expect(diffsOf(old)).toEqual(diffsOf(fresh))
  expect(diffsOf(fresh)).toHaveLength(2)
  await all.restart('crash')
  await fresh.reconnect()
  expect(shown(fresh)).toEqual(shown(old))
})

test('[V20.6] [V20] a client without a subscription is told the changed files at the end of a turn', async () => {
  const all = await edited()
  const old = await joined(all, '0.1.0')
  const told = () =>
    old.notes.flatMap(({ params }) => {
      const { type, session: of, changes } = params['notification'] as Value
      const { diffs } = (changes ?? {}) as { readonly diffs?: readonly Value[] }
      return type === 'notify/sessionSummaryChanged' && of === alias && diffs ? [diffs] : []
    })
  const run = await beginTurn(all, 't2')
  await call(all, run, 'c1', () => all.write('third.txt', 'x\n'))
  await endTurn(all, run)
  await roundsUntil(all, () => told().length > 0)
  expect(
    told()
      .at(-1)
      ?.map(({ after }) => (after as Value)['uri']),
  ).toEqual(['file:///a/kept.txt', 'file:///a/new.txt', 'file:///a/third.txt'])
  // The changeset was computed once, and nobody follows it.
  expect(all.core().jobs.has(changeset)).toBe(false)
  expect(all.ann.notes.every(({ params }) => !JSON.stringify(params).includes('diffs'))).toBe(true)
})

test('[V20] unsubscribing from a session ends the computation of its files', async () => {
  const all = await edited()
  const old = await joined(all, '0.1.0', alias)
  const other = new OlderClient(all, '0.1.0', 'other')
  await other.open([alias])
  await old.until(() => diffsOf(old)?.length === 2)
  old.unsubscribe(alias)
  await untilIdle()
  expect(all.core().jobs.has(changeset)).toBe(true)
  other.unsubscribe(alias)
  await untilIdle()
  expect(all.core().jobs.has(changeset)).toBe(false)
})

test('[V20] a session has its `diffs` even if it has as many changesets of turns as it may have', async () => {
  const all = await edited({ changesets: 1 })
  await all.ann.ask('subscribe', { channel: `${session}/changeset/turn/t1` })
  const old = await joined(all, '0.1.0', alias)
  await old.until(() => diffsOf(old)?.length === 2)
})

const channelVersions = supportedVersions.filter((version) => version !== '0.1.0')

test.each(channelVersions)(
  '[V8] at %s a client finds the changesets of a session and of its turns',
  async (version) => {
    const all = await edited()
    const client = await joined(all, version, session)
    const { summary, changesets = (summary as Value | undefined)?.['changesets'] } = client.state(session)
    const templates = (changesets as readonly Value[]).map(({ uriTemplate }) => String(uriTemplate))
    expect(templates).toContain(changeset)
    const owner = templates.find((template) => template.includes('/turn/'))
    const turn = (owner ?? `${session}/changeset/turn/{turnId}`).replace('{turnId}', 't1')
    expect(owner !== undefined).toBe(version !== '1.0.0')
    for (const uri of [changeset, turn]) {
      await client.subscribe(uri)
      await client.until(() => client.state(uri)['status'] === 'ready')
      expect((client.state(uri)['files'] as readonly Value[]).map(({ id }) => id)).toEqual([
        'file:///a/kept.txt',
        'file:///a/new.txt',
      ])
    }
    const undo = await client.ask('invokeChangesetOperation', { operationId: 'undo' }, turn)
    expect(undo).toMatchObject({ message: expect.anything() })
    expect([all.text('kept.txt'), all.text('new.txt')]).toEqual(['one\n', undefined])
    await client.until(() => (client.state(changeset)['files'] as readonly Value[]).length === 0)
    await untilIdle()
    const fresh = new OlderClient(all, version, 'fresh')
    await fresh.open([changeset, turn])
    for (const uri of [changeset, turn]) expect(client.state(uri)).toEqual(fresh.state(uri))
  },
)

test('[V8.9] [V8] at 0.3 a client that has seen only some files of a changeset gets all when it comes back', async () => {
  const all = await edited()
  const client = await joined(all, '0.3.0', changeset)
  const files = () => client.state(changeset)['files'] as readonly Value[]
  await client.until(() => client.state(changeset)['status'] === 'ready')
  const [first] = client.envelopes.filter(({ action }) => action.type === 'changeset/fileSet')
  // The connection is lost after the first of two files.
  client.states.set(changeset, {
    ...client.state(changeset),
    status: 'computing',
    files: files().slice(0, 1),
  })
  client.lastSeen = first?.serverSeq ?? 0
  expect(await client.reconnect()).toMatchObject({ type: 'snapshot' })
  expect(files()).toHaveLength(2)
  const { serverSeq = 0 } =
    client.envelopes.findLast(({ action }) => action.type.startsWith('changeset/')) ?? {}
  client.lastSeen = Math.max(client.lastSeen, serverSeq)
  expect(await client.reconnect()).toMatchObject({ type: 'replay', actions: [] })
})

test('[V8] [V20] at 0.1 there is no changeset to subscribe to, and no operation', async () => {
  const all = await edited()
  const old = await joined(all, '0.1.0', alias)
  await expect(old.subscribe(changeset)).rejects.toMatchObject({ code: -32008 })
  await expect(old.ask('invokeChangesetOperation', { operationId: 'undo' })).rejects.toMatchObject({
    code: -32601,
  })
})

test.each<Version>(['0.5.2', '0.6.0'])(
  '[V14] at %s a client sees which files were reviewed',
  async (version) => {
    const all = await edited()
    const client = await joined(all, version, changeset)
    await client.until(() => client.state(changeset)['status'] === 'ready')
    const reviewed = () =>
      (client.state(changeset)['files'] as readonly Value[]).flatMap((file) =>
        file['reviewed'] ? [file['id']] : [],
      )
    const files = ['file:///a/new.txt']
    all.ann.dispatch(changeset, { type: 'changeset/filesReviewChanged', files, reviewed: true } as never)
    await client.until(() => reviewed().length === 1)
    expect(reviewed()).toEqual(files)
    const own =
      version === '0.6.0'
        ? { type: 'changeset/filesReviewChanged', files, reviewed: false }
        : { type: 'changeset/filesReviewedChanged', fileIds: files, reviewed: false }
    const { rejectionReason } = await client.echo(client.dispatch(changeset, own))
    expect(rejectionReason === undefined).toBe(version === '0.6.0')
    expect(reviewed()).toEqual(version === '0.6.0' ? [] : files)
  },
)
