import type { LimitValues } from '@atrium/protocol/limits'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import { FileError } from '../../ports/files.ts'

const w = 'file:///w'

async function tower(given: Partial<LimitValues> = {}) {
  const files = new FakeFiles()
  const all = await testHost({ machine: { files }, limits: given })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: 's:/1', workingDirectories: [w] })
  const watch = async (params: object = {}) =>
    (await ann.ask('createResourceWatch', { uri: w, recursive: true, ...params })).channel
  return { all, ann, files, watch }
}

const changesSeen = (client: Client) =>
  client.envelopes.flatMap(({ action }) => (action.type === 'resourceWatch/changed' ? [action] : []))

test('[Q8] [Q8.2] changes are sent to the subscribers of the watch, as URIs, and none are stored', async () => {
  const { all, ann, files, watch } = await tower()
  const channel = await watch({ excludes: { items: ['**/node_modules'] }, includes: { items: ['**/*.ts'] } })
  const { snapshot } = await ann.ask('subscribe', { channel })
  expect(snapshot).toMatchObject({
    state: { root: w, recursive: true, excludes: { items: ['**/node_modules'] } },
  })
  files.watches[0]?.notify(
    [
      { path: 'src/a b.ts', type: 'added' },
      { path: '', type: 'deleted' },
    ],
    false,
  )
  files.watches[0]?.notify([], false)
  await ann.until(() => changesSeen(ann).length === 1)
  expect(changesSeen(ann)).toEqual([
    {
      type: 'resourceWatch/changed',
      changes: {
        items: [
          { uri: `${w}/src/a%20b.ts`, type: 'added' },
          { uri: w, type: 'deleted' },
        ],
      },
    },
  ])
  await all.core().log.settled()
  const { envelopes } = await all.store().log.read([channel], 0, Number.MAX_SAFE_INTEGER)
  expect(JSON.stringify(envelopes)).not.toContain('a%20b')
})

test('[Q8] [Q8.2] F-40b: lost changes are reported', async () => {
  const { ann, files, watch } = await tower()
  const channel = await watch()
  await ann.ask('subscribe', { channel })
  files.watches[0]?.notify([{ path: 'x', type: 'added' }], true)
  await ann.until(() => changesSeen(ann).length === 1)
  expect(changesSeen(ann)[0]).toMatchObject({
    changes: {
      items: [
        { uri: w, type: 'updated' },
        { uri: `${w}/x`, type: 'added' },
      ],
    },
    _meta: { 'x-atrium': { rescan: true } },
  })
})

test('[Q8] patterns decide which changes are reported', async () => {
  const { files, watch } = await tower()
  await watch({ excludes: { items: ['node_modules', '**/.git'] }, includes: { items: ['**/*.ts', 'doc'] } })
  const { request } = files.watches[0] ?? {}
  const wanted = ['', 'a.ts', 'src/b.ts', 'doc', 'src/c.js', 'node_modules', '.git', 'src/.git']
  expect(wanted.map((path) => request?.wants(path))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  expect(wanted.map((path) => request?.skips(path))).toEqual([
    false,
    false,
    false,
    false,
    false,
    true,
    true,
    true,
  ])
})

test('[Q8] [Q8.3] a watch ends with its last subscriber, which unsubscribes or disconnects', async () => {
  const { all, ann, files, watch } = await tower()
  const ben = await all.join('ben')
  const channel = await watch()
  for (const client of [ann, ben]) await client.ask('subscribe', { channel })
  ben.peer.close()
  while (all.core().clients.links.has('ben')) await ann.ask('ping', {})
  expect(files.watches[0]?.ended).toBe(false)
  ann.peer.notify('unsubscribe', { channel })
  await ann.ask('ping', {})
  expect(files.watches[0]?.ended).toBe(true)
  files.watches[0]?.notify([{ path: 'late', type: 'added' }], false)
  await expect(ann.ask('subscribe', { channel })).rejects.toMatchObject({ code: -32008 })
  const second = await watch()
  await ann.ask('subscribe', { channel: second })
  ann.peer.close()
  const cat = await all.join('cat')
  while (all.core().clients.links.has('ann')) await cat.ask('ping', {})
  expect(files.watches[1]?.ended).toBe(true)
  expect(all.world.reports).toEqual([])
})

test('[Q8] [Q8.3] a watch ends with its host: a client that reconnects is told that it is missing', async () => {
  const { all, ann, watch } = await tower()
  const channel = await watch()
  await ann.ask('subscribe', { channel })
  await ann.ask('subscribe', { channel: rootUri })
  await all.restart('crash')
  const again = all.link()
  const subscriptions = [channel, rootUri]
  const answer = await again.ask('reconnect', {
    clientId: 'ann',
    lastSeenServerSeq: ann.lastSeen,
    subscriptions,
  })
  const missing = answer.type === 'replay' ? answer.missing : undefined
  if (missing) expect(missing).toEqual([channel])
  else expect(JSON.stringify(answer)).not.toContain(channel)
  expect(all.core().jobs.pending.filter((uri) => uri === channel)).toEqual([])
  expect(await all.store().log.load(channel, 1)).toBeUndefined()
})

test('[Q8] S-25: a watch that cannot be created is refused, and leaves nothing behind', async () => {
  const { all, files, watch } = await tower()
  for (const [params, code] of [
    [{ excludes: { items: ['{'] } }, -32602],
    [{ includes: { items: ['*'.repeat(2000)] } }, -32602],
    [{ uri: 'file:///etc' }, -32009],
    [{ uri: 'https://example.com' }, -32602],
  ] as const)
    await expect(watch(params), JSON.stringify(params).slice(0, 80)).rejects.toMatchObject({ code })
  expect(files.watches).toEqual([])
  files.trouble = new FileError('missing', 'there is no such directory')
  await expect(watch()).rejects.toMatchObject({ code: -32008 })
  expect(all.core().jobs.pending).toEqual([])
})

test('[S-57 watchUnusedMs] at 30,000 ms a watch without subscribers still exists', () =>
  unused(29_999, false))
test('[Q8.3] [S-57 watchUnusedMs] past 30,000 ms it is removed', () => unused(30_000, true))

async function unused(ms: number, ended: boolean): Promise<void> {
  const { all, files, watch } = await tower()
  await watch()
  all.world.advance(ms)
  expect(files.watches[0]?.ended).toBe(ended)
}

test('a watch with subscribers stays, however long', async () => {
  const { all, ann, files, watch } = await tower()
  await ann.ask('subscribe', { channel: await watch() })
  all.world.advance(3_600_000)
  expect(files.watches[0]?.ended).toBe(false)
})

test('[S-57 watches] at 256 a watch is created', () => crowd(255, true))
test('[S-57 watches] past 256 it is refused', () => crowd(256, false))

async function crowd(others: number, made: boolean): Promise<void> {
  const { watch } = await tower()
  for (let n = 0; n < others; n++) await watch()
  const outcome = await watch().catch((error: unknown) => error)
  if (made) expect(outcome).toMatch(/^ahp-resource-watch:/)
  else expect(outcome).toMatchObject({ code: -32009 })
}

test('[S-57 globs] at 64 patterns a watch is created', () => patterns(64, true))
test('[S-57 globs] past 64 it is refused', () => patterns(65, false))

async function patterns(count: number, made: boolean): Promise<void> {
  const { watch } = await tower()
  const items = Array.from({ length: count - 1 }, (_, n) => `${n}/**`)
  const outcome = await watch({ excludes: { items }, includes: { items: ['*'] } }).catch(
    (error: unknown) => error,
  )
  if (made) expect(outcome).toMatch(/^ahp-resource-watch:/)
  else expect(outcome).toMatchObject({ code: -32602 })
}
