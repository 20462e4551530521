import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { creation, envelope, step } from '../../../../host/src/ports/contracts/fixture.contract.ts'
import { storeContract } from '../../../../host/src/ports/contracts/store.contract.ts'
import { StoreWorker } from '../worker-client.ts'
import type { WorkerApi } from '../worker-api.ts'
import { takeThread } from './thread.ts'
import { filled, newFolder, one, open, tamper, two } from '../../../test/store-folder.ts'

storeContract('sqlite', async () => {
  const folder = newFolder()
  const store = await open(folder)
  const reopen = async () => {
    await store.log.close()
    return open(folder)
  }
  return { store, reopen }
})

test('[F-05] [L8.7] a newer schema is refused with an error that names both versions and the folder', async () => {
  const folder = await filled()
  tamper(folder, `UPDATE meta SET value = 9 WHERE key = 'schema'`)
  const error = await open(folder).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'StoreUnreadable' })
  expect(String(error)).toMatch(/version 9,.* up to 5\b/)
  expect(String(error)).toContain(folder)
})

test('[F-06] [L8.7] an older store is backed up and migrated, and a new store has the newest schema', async () => {
  const folder = await filled()
  const laterMigrations = ['ALTER TABLE records ADD COLUMN extra TEXT', 'CREATE TABLE third (a)']
  const { log } = await open(folder, { laterMigrations })
  expect(await log.load(two)).toMatchObject({ seq: 1 })
  await log.close()
  const backups = readdirSync(folder).filter((name) => /^atrium-v5-\d{8}T\d{6}\.\d{3}Z\.db$/.test(name))
  expect(backups).toHaveLength(1)
  expect(query(join(folder, 'atrium.db'), 'SELECT value FROM meta WHERE key = ?', 'schema')).toEqual([
    { value: 7 },
  ])
  expect(query(join(folder, backups[0] ?? ''), 'SELECT count(*) AS n FROM envelopes')).toEqual([{ n: 18 }])
  expect(modeOf(join(folder, backups[0] ?? ''))).toBe(0o600)
  const fresh = newFolder()
  await (await open(fresh, { laterMigrations })).log.close()
  expect(readdirSync(fresh).toSorted()).toEqual(['atrium.db', 'atrium.upto'])
  expect(query(join(fresh, 'atrium.db'), 'SELECT extra FROM records, third')).toEqual([])
})

test('[F-06] a failed migration leaves the store unchanged', async () => {
  const folder = await filled()
  const laterMigrations = ['CREATE TABLE second (a)', 'no such thing']
  await expect(open(folder, { laterMigrations })).rejects.toMatchObject({ name: 'StoreUnreadable' })
  const { log } = await open(folder)
  expect(await log.load(two)).toMatchObject({ seq: 1 })
})

test('[F-11] [L8.8] a second host is refused with the pid of the first, and may open the store after the first has closed it', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  for (const options of [{}, { readOnly: true }]) {
    const error = await open(folder, options).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'StoreLocked' })
    expect(String(error)).toContain(`process ${process.pid}`)
  }
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  await log.close()
  expect(existsSync(join(folder, 'atrium.pid'))).toBe(false)
  expect(await (await open(folder)).log.load(one)).toMatchObject({ seq: 1 })
})

test('[F-07] a full disk refuses the flush, keeps the queue, and a later flush writes it', async () => {
  const folder = newFolder()
  let pages = 30
  const { log, records } = await open(folder, { maxPages: () => pages })
  log.append(step({ created: [creation(one, 1)], envelopes: [envelope(2)] }))
  await log.flush()
  log.append(step({ envelopes: [{ ...envelope(3), action: 'x'.repeat(1_000_000) }] }))
  records.put('open/1', 'large')
  await expect(log.flush()).rejects.toMatchObject({ name: 'DiskFull' })
  log.append(step({ envelopes: [envelope(4)] }))
  await expect(log.flush()).rejects.toMatchObject({ name: 'DiskFull' })
  expect(await log.load(one)).toMatchObject({ envelopes: { length: 1 } })
  expect(await records.get('open/1')).toBe('large')
  pages = 100_000
  await log.flush()
  await log.close()
  const next = await open(folder)
  expect(await next.log.load(one)).toMatchObject({ envelopes: [{ seq: 2 }, { seq: 3 }, { seq: 4 }] })
  expect(await next.records.get('open/1')).toBe('large')
})

test('[F-08] a store on a write-protected disk can be opened read-only', async (context) => {
  const folder = await filled()
  const mount = (...args: readonly string[]) => spawnSync('mount', [...args, folder]).status === 0
  if (!mount('--bind', folder)) return context.skip('no mount')
  try {
    if (!mount('-o', 'remount,ro,bind')) return context.skip('no mount')
    expect(() => writeFileSync(join(folder, 'proof'), '')).toThrow('EROFS')
    const error = await open(folder).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'Error',
      message: expect.stringContaining('cannot be written'),
    })
    const { log } = await open(folder, { readOnly: true })
    expect(await log.load(two)).toMatchObject({ seq: 1 })
  } finally {
    spawnSync('umount', ['-l', folder])
  }
})

test('[F-08] a read-only store can be read and is not written', async () => {
  const folder = await filled()
  const before = readdirSync(folder)
  const { log, records, blobs } = await open(folder, { readOnly: true })
  expect(await log.load(two)).toMatchObject({ seq: 1, rows: ['one', 'two'] })
  expect(() => log.append(step({}))).toThrow('reading only')
  expect(() => records.put('a', 'b')).toThrow('reading only')
  expect(() => records.delete('a')).toThrow('reading only')
  await expect(blobs.put(one, new Uint8Array(1))).rejects.toThrow('reading only')
  await log.flush()
  expect(readdirSync(folder)).toEqual(before)
  await expect(open(newFolder(), { readOnly: true })).rejects.toMatchObject({ name: 'StoreUnreadable' })
})

test('[S-05] folder and files are readable by the owner only, whatever the umask', async ({
  onTestFinished,
}) => {
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))
  const folder = join(newFolder(), 'new', 'deep')
  const { log } = await open(folder)
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  expect(modeOf(folder)).toBe(0o700)
  const files = readdirSync(folder).toSorted()
  expect(files).toEqual(['atrium.db', 'atrium.db-wal', 'atrium.pid', 'atrium.upto'])
  for (const file of files) expect(modeOf(join(folder, file))).toBe(0o600)
})

test('[F-09] if the worker fails, pending and later requests are rejected', async () => {
  const worker = new StoreWorker<WorkerApi>(takeThread())
  await worker.request('open', [{ folder: newFolder(), readOnly: false }])
  // The message is not a request, so the worker throws outside of its error handling.
  worker['worker'].postMessage(null)
  await expect(worker.request('records', [''])).rejects.toThrow()
  await expect(worker.request('records', [''])).rejects.toThrow()
  await worker.close()
})

test('[L8] [L21.2] the content of a dropped channel is not left in the file', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  log.append(step({ created: [creation(one, 1)], envelopes: [{ ...envelope(2), action: 'a secret word' }] }))
  await log.flush()
  log.append(step({ dropped: [{ channel: one, seq: 3 }] }))
  await log.flush()
  await log.close()
  const bytes = readFileSync(join(folder, 'atrium.db'))
  expect(bytes.includes('a secret word')).toBe(false)
  expect(bytes.includes(one)).toBe(false)
})

function query(path: string, sql: string, ...values: string[]): unknown[] {
  const db = new DatabaseSync(path)
  const found = db.prepare(sql).all(...values) as object[]
  db.close()
  return found.map((row) => ({ ...row }))
}

const modeOf = (path: string) => statSync(path).mode & 0o777
