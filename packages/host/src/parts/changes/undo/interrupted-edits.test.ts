import { MemoryCaptures, MemoryFolders } from '@atrium/adapters/captures/memory'
import { expect, test } from 'vitest'
import { beginTurn, call, capturedSession, endTurn } from '../../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../../test/captures/captured-session.ts'
import { changeset } from '../../../../test/captures/changeset-client.ts'
import { untilIdle } from '../../../../test/held-flushes.ts'
import { chat } from '../../../../test/two-client-session.ts'

const uri = `${chat}/changeset/turn/t1`
const names = ['a', 'b', 'c', 'd']

/** A host that is killed after an undo of a turn has set back two of its four files. */
async function killedInUndo(pauses: { next: () => Promise<void> }): Promise<CapturedSession> {
  const all = await capturedSession({}, new MemoryCaptures(new MemoryFolders(), () => pauses.next()))
  for (const name of names) all.write(name, 'old\n')
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    for (const name of names) all.write(name, 'new\n')
  })
  await endTurn(all, run)
  await changeset(all.ann, uri)
  await new Promise<void>((killed) => {
    pauses.next = () => {
      if (all.text('b') === 'new\n') return Promise.resolve()
      killed()
      return new Promise(() => {})
    }
    void all.ann.ask('invokeChangesetOperation', { channel: uri, operationId: 'undo' })
  })
  expect(names.map(all.text)).toEqual(['old\n', 'old\n', 'new\n', 'new\n'])
  return all
}

test('[O21.1] a host that was killed in an undo is open only when all files of the undo are set back', async () => {
  const pauses = { next: () => Promise.resolve() }
  const all = await killedInUndo(pauses)
  pauses.next = untilIdle
  await all.restart('crash')
  expect(names.map(all.text)).toEqual(['old\n', 'old\n', 'old\n', 'old\n'])
})

test('[O21.1] a host opens, and says so, if the edits that a crash interrupted cannot be finished', async () => {
  const pauses = { next: () => Promise.resolve() }
  const all = await killedInUndo(pauses)
  pauses.next = () => Promise.reject(new Error('the disk is away'))
  await all.restart('crash')
  const events = all.world.reports.map(({ event }) => event)
  expect(events).toContain('finishing interrupted edits failed')
})
