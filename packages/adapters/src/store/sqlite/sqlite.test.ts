import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { born, envelope, step } from '../../../../host/src/ports/fixture.contract.ts'
import { storeContract } from '../../../../host/src/ports/store.contract.ts'
import { Link } from './worker-client.ts'
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

test('[F-05] a newer schema is refused, and both versions and the folder are named', async () => {
  const folder = await filled()
  tamper(folder, `UPDATE meta SET value = 7 WHERE key = 'schema'`)
  const error = await open(folder).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'StoreUnreadable' })
  expect(String(error)).toMatch(/version 7,.* up to 1\b/)
  expect(String(error)).toContain(folder)
})

test('[F-06] an older schema is backed up and brought up to date, and a new store begins there', async () => {
  const folder = await filled()
  const migrations = ['ALTER TABLE records ADD COLUMN extra TEXT', 'CREATE TABLE third (a)']
  const { log } = await open(folder, { migrations })
  expect(await log.load(two)).toMatchObject({ seq: 1 })
  await log.close()
  const backups = readdirSync(folder).filter((name) => /^atrium-v1-\d{8}T\d{6}\.\d{3}Z\.db$/.test(name))
  expect(backups).toHaveLength(1)
  expect(query(join(folder, 'atrium.db'), 'SELECT value FROM meta WHERE key = ?', 'schema')).toEqual([
    { value: 3 },
  ])
  expect(query(join(folder, backups[0] ?? ''), 'SELECT count(*) AS n FROM envelopes')).toEqual([{ n: 18 }])
  expect(modeOf(join(folder, backups[0] ?? ''))).toBe(0o600)
  const fresh = newFolder()
  await (await open(fresh, { migrations })).log.close()
  expect(readdirSync(fresh)).toEqual(['atrium.db'])
  expect(query(join(fresh, 'atrium.db'), 'SELECT extra FROM records, third')).toEqual([])
})

test('[F-06] a migration that fails leaves the store as it was', async () => {
  const folder = await filled()
  const migrations = ['CREATE TABLE second (a)', 'no such thing']
  await expect(open(folder, { migrations })).rejects.toMatchObject({ name: 'StoreUnreadable' })
  const { log } = await open(folder)
  expect(await log.load(two)).toMatchObject({ seq: 1 })
})

test('[F-11] a second host is refused and told who has it; it may come when the first is gone', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  for (const options of [{}, { readOnly: true }]) {
    const error = await open(folder, options).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'StoreLocked' })
    expect(String(error)).toContain(`process ${process.pid}`)
  }
  log.append(step({ created: [born(one, 1)] }))
  await log.flush()
  await log.close()
  expect(existsSync(join(folder, 'atrium.pid'))).toBe(false)
  expect(await (await open(folder)).log.load(one)).toMatchObject({ seq: 1 })
})

test('[F-07] a full disk refuses the batch, keeps it queued, and takes it when there is space', async () => {
  const folder = newFolder()
  let pages = 30
  const { log, records } = await open(folder, { maxPages: () => pages })
  log.append(step({ created: [born(one, 1)], envelopes: [envelope(2)] }))
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

test('[F-08] a disk that cannot be written is no unreadable store: it can be opened to read', async (context) => {
  const folder = await filled()
  const mount = (...args: readonly string[]) => spawnSync('mount', [...args, folder]).status === 0
  if (!mount('--bind', folder)) return context.skip('no mount')
  try {
    if (!mount('-o', 'remount,ro,bind')) return context.skip('no mount')
    expect(() => writeFileSync(join(folder, 'proof'), '')).toThrow('EROFS')
    const error = await open(folder).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'Error',
      message: expect.stringContaining('cannot be written') as string,
    })
    const { log } = await open(folder, { readOnly: true })
    expect(await log.load(two)).toMatchObject({ seq: 1 })
  } finally {
    spawnSync('umount', ['-l', folder])
  }
})

test('[F-08] a store that is opened to read is read, and not written', async () => {
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

test('[S-05] folder and files are for the owner alone, whatever the umask', async ({ onTestFinished }) => {
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))
  const folder = join(newFolder(), 'new', 'deep')
  const { log } = await open(folder)
  log.append(step({ created: [born(one, 1)] }))
  await log.flush()
  expect(modeOf(folder)).toBe(0o700)
  const files = readdirSync(folder).toSorted()
  expect(files).toEqual(['atrium.db', 'atrium.db-wal', 'atrium.pid'])
  for (const file of files) expect(modeOf(join(folder, file))).toBe(0o600)
})

test('[F-09] when the worker fails, what was asked is rejected, and so is what is asked later', async () => {
  const link = new Link()
  await link.ask('open', [{ folder: newFolder(), readOnly: false }])
  // No question at all, so nothing in the worker catches it.
  link['worker'].postMessage(null)
  await expect(link.ask('records', [''])).rejects.toThrow()
  await expect(link.ask('records', [''])).rejects.toThrow()
  await link.close()
})

test('[L8] what was dropped is not left in the file', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  log.append(step({ created: [born(one, 1)], envelopes: [{ ...envelope(2), action: 'a secret word' }] }))
  await log.flush()
  log.append(step({ dropped: [{ channel: one, seq: 3 }] }))
  await log.flush()
  await log.close()
  const bytes = readFileSync(join(folder, 'atrium.db'))
  expect(bytes.includes('a secret word')).toBe(false)
  expect(bytes.includes(one)).toBe(true)
})

function query(path: string, sql: string, ...values: string[]): unknown[] {
  const db = new DatabaseSync(path)
  const found = db.prepare(sql).all(...values) as object[]
  db.close()
  return found.map((row) => ({ ...row }))
}

const modeOf = (path: string) => statSync(path).mode & 0o777
