import { copyFileSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { creation, envelope, range, step } from '../../../../host/src/ports/contracts/fixture.contract.ts'
import { sealAll } from '../../../../host/src/ports/contracts/seal.contract.ts'
import { newFolder, one, open, two } from '../../../test/store-folder.ts'

const MiB = 1024 * 1024
const recorded = fileURLToPath(new URL('../../../test/data/earlier-build/atrium.db', import.meta.url))

test('[L18] free pages are given back in slices, and one MiB of them stays for the next writes', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  const action = JSON.stringify({ text: 'word '.repeat(400) })
  for (const channel of [one, two]) {
    const envelopes = range(channel === one ? 2 : 5002, 2000).map((seq) => ({
      ...envelope(seq, channel),
      action,
    }))
    log.append(step({ created: [creation(channel, 1)], envelopes }))
  }
  await log.flush()
  expect(await log.shrink()).toBe(false)
  await sealAll(log, one, 9999)
  log.append(step({ dropped: [{ channel: two, seq: 9000 }] }))
  await log.flush()
  const before = await log.read([one], 0, 9999)
  let slices = 0
  while (await log.shrink()) slices++
  expect(slices).toBeGreaterThan(10)
  expect(await log.read([one], 0, 9999)).toEqual(before)
  await log.close()
  expect(statSync(join(folder, 'atrium.db')).size).toBeLessThan(1.5 * MiB)
  expect(pragma(folder, 'freelist_count')).toBeGreaterThan(200)
  expect(pragma(folder, 'integrity_check')).toBe('ok')
})

test('[L18] [L18.1] the file of an earlier build is rewritten once, after its backup', async () => {
  const folder = earlier()
  // The header of the file tells whether free pages can be given back.
  expect(readFileSync(recorded).readUInt32BE(52)).toBe(0)
  const notices: string[] = []
  const { log } = await open(folder, { notice: (sentence) => notices.push(sentence) })
  await log.close()
  expect(pragma(folder, 'auto_vacuum')).toBe(2)
  expect(pragma(folder, 'integrity_check')).toBe('ok')
  expect(readdirSync(folder).filter((name) => name.startsWith('atrium-v1-'))).toHaveLength(1)
  expect(notices).toEqual([])
})

test.each([
  ['disk space', { disk: 1000, memory: Infinity }],
  ['memory', { disk: Infinity, memory: 1000 }],
])(
  '[L18] [L18.1] without enough %s the file is not rewritten, and the store says so and works',
  async (what, room) => {
    const folder = earlier()
    const notices: string[] = []
    const store = await open(folder, { room, notice: (sentence) => notices.push(sentence) })
    expect(notices).toEqual([
      expect.stringMatching(new RegExp(`needs more ${what}. The next start tries again`)),
    ])
    expect(await store.log.shrink()).toBe(false)
    store.log.append(step({ created: [creation(one, 1)] }))
    await store.log.flush()
    await store.log.close()
    await (await open(folder)).log.close()
    expect(pragma(folder, 'auto_vacuum')).toBe(2)
  },
)

test('[F-08] a read-only store gives nothing back', async () => {
  const folder = newFolder()
  await (await open(folder)).log.close()
  const { log } = await open(folder, { readOnly: true })
  await expect(log.shrink()).rejects.toThrow('reading only')
  await expect(log.seal(one, 9, 1)).rejects.toThrow('reading only')
})

function earlier(): string {
  const folder = newFolder()
  copyFileSync(recorded, join(folder, 'atrium.db'))
  return folder
}

function pragma(folder: string, name: string): unknown {
  const db = new DatabaseSync(join(folder, 'atrium.db'), { readOnly: true })
  const [row = {}] = db.prepare(`PRAGMA ${name}`).all() as object[]
  db.close()
  return Object.values(row)[0]
}

test('[L18.2] the journal is cut to 16 MiB when it begins again after a large transaction', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  const journal = () => statSync(join(folder, 'atrium.db-wal')).size
  const action = JSON.stringify({ text: 'x'.repeat(1_000_000) })
  const envelopes = range(2, 30).map((seq) => ({ ...envelope(seq, one), action }))
  log.append(step({ created: [creation(one, 1)], envelopes }))
  await log.flush()
  expect(journal()).toBeGreaterThan(25 * MiB)
  for (let seq = 100; seq < 110 && journal() > 16 * MiB; seq++) {
    log.append(step({ envelopes: [envelope(seq, one)] }))
    await log.flush()
  }
  expect(journal()).toBeLessThanOrEqual(16 * MiB)
})

test('[L21] [L21.1] a flush that drops a large channel deletes one slice of it; the others follow one by one, also after a restart', async () => {
  const folder = newFolder()
  const store = await open(folder)
  const rows = range(0, 900).map((n) => ({ channel: one, id: `t${n}`, text: 'turn' }))
  const envelopes = range(2, 3001).map((seq) => envelope(seq, one))
  store.log.append(step({ created: [creation(one, 1)], envelopes, rows }))
  await store.log.flush()
  store.log.append(step({ dropped: [{ channel: one, seq: 4001 }] }))
  await store.log.flush()
  await store.log.close()
  const tables = ['envelopes', 'rows', 'channels']
  const counts: (readonly number[])[] = []
  for (const calls of [0, 3, 2, 1, 1]) {
    const { log } = await open(folder)
    for (let i = 0; i < calls; i++) expect(await log.shrink()).toBe(true)
    await log.close()
    counts.push(tables.map((table) => count(folder, table)))
  }
  expect(counts).toEqual([
    [2501, 900, 1],
    [1001, 900, 1],
    [1, 900, 1],
    [0, 900, 1],
    [0, 400, 1],
  ])
  const { log } = await open(folder)
  while (await log.shrink());
  await log.close()
  expect(tables.map((table) => count(folder, table))).toEqual([0, 0, 0])
})

test('[L21] a flush that drops many channels deletes at most about one slice', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  const uris = range(0, 20).map((n) => `ahp-chat:/${n}`)
  const envelopes = range(2, 2000).map((seq) => envelope(seq, uris[seq % 20]))
  log.append(step({ created: uris.map((uri) => creation(uri, 1)), envelopes }))
  log.append(step({ dropped: uris.map((channel) => ({ channel, seq: 3000 })) }))
  await log.flush()
  await log.close()
  expect([count(folder, 'envelopes'), count(folder, 'channels')]).toEqual([1500, 16])
})

test('[L21] long envelopes of a dropped channel are deleted a few at a time', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  const action = JSON.stringify({ text: 'x'.repeat(100_000) })
  const envelopes = range(2, 12).map((seq) => ({ ...envelope(seq, one), action }))
  log.append(step({ created: [creation(one, 1)], envelopes }))
  log.append(step({ dropped: [{ channel: one, seq: 100 }] }))
  await log.flush()
  expect(await log.shrink()).toBe(true)
  await log.close()
  // A slice has 256 KiB, or as many envelopes as begin within them.
  expect(count(folder, 'envelopes')).toBe(6)
})

/** Counts the rows of a table of a closed store. Takes no lock, which would last until the statement is collected. */
function count(folder: string, table: string): number {
  const url = pathToFileURL(join(folder, 'atrium.db'))
  url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true })
  const [{ n } = { n: 0 }] = db.prepare(`SELECT count(*) AS n FROM ${table}`).all() as { n: number }[]
  db.close()
  return n
}
