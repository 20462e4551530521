import { expect, test } from 'vitest'
import { beginTurn, call, capturedSession, endTurn } from '../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../test/captures/captured-session.ts'
import { changeset } from '../../../test/captures/changeset-client.ts'
import { session, untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import { chat, sessionOf } from '../../../test/two-client-session.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

async function writes(all: CapturedSession, turnId: string, path: string, text: string): Promise<void> {
  const run = await beginTurn(all, turnId)
  await call(all, run, turnId, () => all.write(path, text))
  await endTurn(all, run)
}

const counted = (all: CapturedSession) => sessionOf(all).chats[0]?.changes
const two = { additions: 2, deletions: 0, files: 1 }

test('[R003-41] [H10.9] session channel, Chat aggregation: after a turn its chat and the session list count the changes, at 1.0 and at 0.4', async () => {
  const all = await capturedSession()
  const older = new OlderClient(all, '0.4.0')
  await older.open([older.root, session])
  await writes(all, 't1', 'new.txt', 'one\ntwo\n')
  await until(() => counted(all) !== undefined)
  expect(counted(all)).toEqual(two)
  expect(all.ben.state(session)).toEqual(sessionOf(all))
  await untilIdle()
  const now = await all.ann.ask('listSessions', {})
  expect(now.items[0]).toMatchObject({ changes: two, chats: [{ changes: two }] })
  const before = (await older.ask('listSessions', {}))['items'] as readonly Value[]
  expect(before[0]?.['changes']).toEqual(two)
  const told = () =>
    older.notes
      .filter(({ method }) => method === 'root/sessionSummaryChanged')
      .map(({ params }) => (params['changes'] as Value)['changes'])
  for (; !told().some((each) => each !== undefined); all.world.advance(100)) await untilIdle()
  expect(told().findLast((each) => each !== undefined)).toEqual(two)
})

test('[H10.9] the counts are those of the files since the first turn of the chat, also after an undo', async () => {
  const all = await capturedSession()
  await writes(all, 't1', 'new.txt', 'one\ntwo\n')
  await writes(all, 't2', 'new.txt', 'one\n')
  await until(() => counted(all)?.additions === 1)
  await writes(all, 't3', 'other.txt', 'x\n')
  await until(() => counted(all)?.files === 2)
  const uri = `${chat}/changeset/turn/t3`
  await changeset(all.ann, uri)
  await all.ann.ask('invokeChangesetOperation', { channel: uri, operationId: 'undo' })
  await until(() => counted(all)?.files === 1)
  expect(counted(all)).toEqual({ additions: 1, deletions: 0, files: 1 })
})

test('[H10.9] a chat that has changed nothing has no counts, and the action that counts is stored', async () => {
  const all = await capturedSession()
  await endTurn(all, await beginTurn(all, 't1'))
  await untilIdle()
  expect(counted(all)).toBeUndefined()
  await writes(all, 't2', 'new.txt', 'one\ntwo\n')
  await until(() => counted(all) !== undefined)
  await all.restart('crash')
  const again = await all.join('again')
  expect((await again.ask('listSessions', {})).items[0]?.changes).toEqual(two)
})

test('[V20.6] state types, SessionSummary: at 0.1 the result of `listSessions` has the `diffs`, also after a restart', async () => {
  const all = await capturedSession()
  const older = new OlderClient(all, '0.1.0')
  await older.open([older.root, 'mock:/one'])
  await writes(all, 't1', 'new.txt', 'one\ntwo\n')
  const diffs = async (client: OlderClient) =>
    ((await client.ask('listSessions', {}))['items'] as readonly Value[])[0]?.['diffs']
  const summary = () => older.state('mock:/one')['summary'] as { readonly diffs?: readonly unknown[] }
  await older.until(() => summary().diffs?.length === 1)
  expect(await diffs(older)).toEqual(summary().diffs)
  await all.restart('crash')
  const again = new OlderClient(all, '0.1.0', 'again')
  await again.open()
  expect(await diffs(again)).toEqual(summary().diffs)
})
