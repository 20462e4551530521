import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@atrium/adapters/store/sqlite'
import { nodeWorld } from '@atrium/adapters/process/world'
import { memoryStore } from '@atrium/adapters/store/memory'
import { createHost } from '@atrium/host'
import { pair } from '@atrium/protocol/rpc/pair'
import { expect, test } from 'vitest'
import { Client } from '../../../host/test/test-host.ts'
import { openStore, unlessFull } from './store.ts'

const world = nodeWorld(() => {})

test('[F-08] [S-27] [L4.5] clients of a read-only host are told neither a path nor an error of the system', async (context) => {
  const data = mkdtempSync(join(tmpdir(), 'atrium-store-'))
  await (await openStore({ data })).store.log.close()
  if (!protect(data)) return context.skip('no mount')
  context.onTestFinished(() => unprotect(data))
  const { store, readOnly, warning } = await openStore({ data })
  await store.log.close()
  expect(readOnly).toBe('The disk of this host cannot be written: the host is read-only.')
  expect(warning).toContain(data)
  expect(warning).toMatch(/cannot be written \(.+\): this host is read-only\.$/)
})

test('[D9] a host of a folder that another host serves is told which process that is, and what to do', async () => {
  const data = mkdtempSync(join(tmpdir(), 'atrium-store-'))
  const { store } = await openStore({ data })
  await expect(openStore({ data })).rejects.toMatchObject({
    name: 'CommandError',
    exit: 6,
    message: `the store in ${data} is in use by process ${process.pid}; use that host (atrium ls), or end it first: atrium stop`,
  })
  await store.log.close()
})

test('[L4.7] F-07: a host whose first flush finds no space does not start, and says so in one sentence', async () => {
  const store = memoryStore({ full: () => true })
  await expect(unlessFull('/data', () => createHost({ store, world }))).rejects.toMatchObject({
    name: 'CommandError',
    message:
      'The disk of /data is full; free some space and start again, or read what is there with --read-only.',
  })
  const broken = new Error('the disk is broken')
  await expect(unlessFull('/data', () => Promise.reject(broken))).rejects.toBe(broken)
})

test('[L4.6] F-07: a host whose store may not grow refuses changes, and tells a client that its action waits', async () => {
  const data = mkdtempSync(join(tmpdir(), 'atrium-store-'))
  let pages = 100_000
  const host = await createHost({ store: await openSqlite(data, { maxPages: () => pages }), world })
  const connected = async (clientId: string) => {
    const [near, far] = pair()
    host.connect(near, 'owner')
    const client = new Client(far)
    await client.initialize(clientId, ['ahp-root://'])
    return client
  }
  const ann = await connected('ann')
  const ben = await connected('ben')
  const config = (text: string) => ({ type: 'root/configChanged', config: { text } })
  pages = 1
  const waiting = ann.dispatch('ahp-root://', config('x'.repeat(50_000)))
  await ann.until(() => ann.notes.some(({ params }) => params['full'] === true))
  const refused = await ben.echo(ben.dispatch('ahp-root://', config('y')))
  expect(refused.rejectionReason).toContain('full')
  pages = 100_000
  expect((await ann.echo(waiting)).rejectionReason).toBeUndefined()
  await host.close()
})

/** Makes a folder read-only. Root may write to every folder, so root needs a mount. */
function protect(folder: string): boolean {
  if (process.getuid?.() !== 0) {
    chmodSync(join(folder, 'atrium.db'), 0o400)
    chmodSync(folder, 0o500)
    return true
  }
  const mount = (...args: readonly string[]) => spawnSync('mount', [...args, folder]).status === 0
  return mount('--bind', folder) && mount('-o', 'remount,ro,bind')
}

function unprotect(folder: string): void {
  if (process.getuid?.() === 0) spawnSync('umount', ['-l', folder])
  else chmodSync(folder, 0o700)
}
