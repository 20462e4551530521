import { expect, test } from 'vitest'
import { beginTurn, call, capturedSession, endTurn } from '../../../test/captures/captured-session.ts'
import { session, untilIdle } from '../../../test/held-flushes.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

/** The name of the session at 0.1. */
const alias = 'mock:/one'

/** A session whose agent has written one file, and a client of an older version. */
async function written(version: '0.1.0' | '0.4.0') {
  const all = await capturedSession()
  const client = new OlderClient(all, version)
  await client.open([client.root, version === '0.1.0' ? alias : session])
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('new.txt', 'one\ntwo\n'))
  await endTurn(all, run)
  return { all, client }
}

const edit = {
  after: { uri: 'file:///a/new.txt', content: { uri: 'file:///a/new.txt', sizeHint: 8 } },
  diff: { added: 2, removed: 0 },
}

test('[R001-44] [V20] state types, SessionSummary: `diffs` are the files that were changed in the session, with counts of lines', async () => {
  const { client } = await written('0.1.0')
  const summary = () => client.state(alias)['summary'] as { readonly diffs?: readonly unknown[] }
  await client.until(() => summary().diffs?.length === 1)
  expect(summary().diffs).toEqual([edit])
})

test('[R000-137] [V20] state model, Session List: `notify/sessionSummaryChanged` also tells the changed files', async () => {
  const { all, client } = await written('0.1.0')
  const changes = () =>
    client.notes
      .map(({ params }) => params['notification'] as Value)
      .filter(({ type, session: of }) => type === 'notify/sessionSummaryChanged' && of === alias)
      .map((note) => note['changes'] as Value)
  // The host collects changes of the list for 100 ms.
  for (; !changes().some((each) => 'diffs' in each); all.world.advance(100)) await untilIdle()
  expect(changes().find((each) => 'diffs' in each)).toEqual({ diffs: [edit] })
})

test('[R003-3] [O35] session channel, Session Channel: it has the changesets of the session', async () => {
  const { client } = await written('0.4.0')
  const listed = () => client.state(session)['changesets'] as readonly Value[] | undefined
  await client.until(() => listed() !== undefined)
  expect(listed()?.map(({ changeKind }) => changeKind)).toEqual(['session', 'turn', 'compare-turns'])
  const [own] = listed() ?? []
  const uri = String(own?.['uriTemplate'])
  await client.subscribe(uri)
  await client.until(() => client.state(uri)['status'] === 'ready')
  expect(client.state(uri)).toMatchObject({ files: [{ id: 'file:///a/new.txt', edit }] })
})
