import type { Client } from '../../../test/test-host.ts'
import { expect, test } from 'vitest'
import { beginTurn, call, capturedSession, endTurn } from '../../../test/captures/captured-session.ts'
import { changeset, pathsIn, stateOf, untilChangeset } from '../../../test/captures/changeset-client.ts'
import { session, untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import { chat } from '../../../test/two-client-session.ts'
import type { Files, WatchListener } from '../../ports/files.ts'

const uri = `${session}/changeset/session`

/** A session in a folder that is watched. `changed` tells the host that files have changed. */
async function watched() {
  const listeners = new Set<WatchListener>()
  const files: Pick<Files, 'watch' | 'stat'> = {
    stat: () => Promise.reject(new Error('only watches are offered')),
    async watch(_, __, listener) {
      listeners.add(listener)
      return { end: async () => void listeners.delete(listener) }
    },
  }
  // Nothing else is used here.
  const all = await capturedSession({ machine: { files: files as Files } })
  await endTurn(all, await beginTurn(all, 't1'))
  await changeset(all.ann, uri)
  const changed = () => {
    for (const listener of listeners) listener([{ path: 'x', type: 'updated' }], false)
  }
  return { ...all, listeners, changed }
}

test('[S-57 refreshMs] at 200 ms after a change of files, not yet over, a changeset waits for further changes', async () => {
  const all = await watched()
  all.write('x', 'by hand\n')
  all.changed()
  all.world.advance(199)
  await untilIdle()
  expect(stateOf(all.ann, uri).files).toEqual([])
})

test('[O35.2] [S-57 refreshMs] past 200 ms after a change of files a changeset is computed again; [O35] it is live', async () => {
  const all = await watched()
  all.write('x', 'by hand\n')
  all.changed()
  all.world.advance(200)
  expect(pathsIn(await untilChangeset(all.ann, uri, ({ files }) => files.length > 0))).toEqual(['x'])
  all.ann.peer.notify('unsubscribe', { channel: uri })
  await until(() => all.listeners.size === 0)
})

/** Computes a changeset again, which takes as long as the clock is moved. Returns the states that Ann saw. */
async function slowly(ms: number): Promise<readonly unknown[]> {
  const all = await watched()
  const take = all.captures.take.bind(all.captures)
  let release: (() => void) | undefined
  all.captures.take = async (...given) => {
    await new Promise<void>((resolve) => (release = resolve))
    return take(...given)
  }
  all.write('x', 'by hand\n')
  all.changed()
  all.world.advance(200)
  await until(() => release !== undefined)
  all.world.advance(ms)
  release?.()
  await untilChangeset(all.ann, uri, ({ files, status }) => files.length > 0 && status === 'ready')
  return statuses(all.ann)
}

const statuses = ({ envelopes }: Client) =>
  envelopes.flatMap(({ channel, action }) =>
    channel === uri && action.type === 'changeset/statusChanged' && 'status' in action ? [action.status] : [],
  )

test('[S-57 recomputingMs] at 500 ms, not yet over, a computation is not announced', async () => {
  expect(await slowly(499)).toEqual(['ready'])
})

test('[O35.2] [S-57 recomputingMs] past 500 ms a changeset says that it is recomputing', async () => {
  expect(await slowly(500)).toEqual(['ready', 'recomputing', 'ready'])
})

async function withFiles(count: number) {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    for (let n = 0; n < count; n++) all.write(`f${n}`, '')
  })
  await endTurn(all, run)
  return changeset(all.ann, `${chat}/changeset/turn/t1`)
}

test('[S-57 changesetFiles] at 3,000 files a changeset shows all of them', async () => {
  const { status, files } = await withFiles(3000)
  expect([status, files.length]).toEqual(['ready', 3000])
})

test('[S-57 changesetFiles] past 3,000 files a changeset shows the first ones, and says so', async () => {
  const { status, files, error } = await withFiles(3001)
  expect([status, files.length]).toEqual(['error', 3000])
  expect(error?.message).toBe('Only the first 3000 of 3001 changed files are shown.')
})

const mostHere = 3

async function withChangesets(count: number) {
  const all = await capturedSession({ limits: { changesets: mostHere } })
  const ids = Array.from({ length: count }, (_, n) => `t${n}`)
  for (const id of ids) await endTurn(all, await beginTurn(all, id))
  const subscribed = ids.map((id) => all.ann.ask('subscribe', { channel: `${chat}/changeset/turn/${id}` }))
  return Promise.allSettled(subscribed)
}

test('[S-57 changesets] at 2,000 changesets of a session (3 in this test) all are served', async () => {
  expect((await withChangesets(mostHere)).map(({ status }) => status)).toEqual(
    Array(mostHere).fill('fulfilled'),
  )
})

test('[S-57 changesets] past 2,000 changesets of a session (3 in this test) a further one is refused', async () => {
  const results = await withChangesets(mostHere + 1)
  expect(results.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: -32009 } }])
})
