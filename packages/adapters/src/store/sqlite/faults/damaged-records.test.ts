import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CheckedRecords } from '@atrium/host/records'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFolder } from '../../../../test/store-folder.ts'
import { openSqlite } from '../sqlite.ts'

const key = 'owner/ahp-session:/a@b c'

/** Opens the records of a store as a start of the host does. */
async function opened(folder: string) {
  const store = await openSqlite(folder)
  const said: string[] = []
  const records = new CheckedRecords(store.records, 'here', (sentence) => said.push(sentence))
  await records.restoreKeys()
  return { store, records, said }
}

/** Flips a bit of the record in the file of a closed store. */
function flip(folder: string, at: number, bit: number, of = key): void {
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  const place = bytes.indexOf(of) + at
  bytes.writeUInt8(bytes.readUInt8(place) ^ (1 << bit), place)
  writeFileSync(path, bytes)
}

/** A closed store. Each test damages a copy of it. */
let whole = ''
beforeAll(async () => {
  whole = mkdtempSync(join(tmpdir(), 'atrium-store-'))
  const { records, store } = await opened(whole)
  for (const name of ['machine/x', 'open/x', 'owner/x', 'part/x']) records.put(name, 'someone')
  records.put(key, 'somebody')
  await store.log.flush()
  await store.log.close()
})
afterAll(() => rmSync(whole, { recursive: true, force: true }))

// The places: the kind, the slash, characters that become a NUL, the name; the mark that becomes a NUL, and the text.
const places = [0, 2, 5, 20, 22, 23, key.length, key.length + 12]

test.each(places.flatMap((at) => [0, 1, 4, 5, 6, 7].map((bit) => [at, bit] as const)))(
  '[L60.5] a record with a flipped bit at %i (%i) permits no more, and hides no other record',
  async (at, bit) => {
    const folder = newFolder()
    cpSync(whole, folder, { recursive: true })
    flip(folder, at, bit)
    const { store, records, said } = await opened(folder)
    const owners = await records.list('owner/')
    expect(owners).toContainEqual(['owner/x', 'someone'])
    expect(owners).toContainEqual([key, at < key.length ? 'somebody' : ''])
    for (const name of ['machine/x', 'open/x', 'part/x']) expect(await records.get(name)).toBe('someone')
    expect(said).toEqual([expect.stringContaining(JSON.stringify(key))])
    await store.log.flush()
    await store.log.close()
    const again = await opened(folder)
    expect([await again.records.list('owner/'), again.said]).toEqual([owners, []])
    await again.store.log.close()
  },
)

test.each([1, 2, 3, 4, 5, 6])(
  '[L60.5] the last record of a kind, whose key is no text from byte %i on and still in order, permits no more',
  async (at) => {
    const folder = newFolder()
    cpSync(whole, folder, { recursive: true })
    flip(folder, at, 7, 'owner/x')
    const { store, records, said } = await opened(folder)
    expect(await records.list('owner/')).toContainEqual(['owner/x', 'someone'])
    expect(await records.get('owner/x')).toBe('someone')
    expect(said).toEqual([expect.stringContaining('owner/x')])
    await store.log.close()
  },
)

test.each([
  ['owner/1', 'owner/3'],
  ['owner/3', 'owner/1'],
])(
  '[L60.5] a flipped bit that makes the key %s that of another record, %s, loses neither',
  async (from, to) => {
    const folder = newFolder()
    const first = await opened(folder)
    for (const name of [from, to, 'part/x']) first.records.put(name, `of ${name}`)
    await first.store.log.flush()
    await first.store.log.close()
    flip(folder, from.length - 1, 1, from)
    const { store, records, said } = await opened(folder)
    const owners = new Map([from, to].map((name) => [name, `of ${name}`]))
    expect(new Map(await records.list('owner/'))).toEqual(owners)
    expect(await records.get('part/x')).toBe('of part/x')
    expect(said).toHaveLength(2)
    await store.log.flush()
    await store.log.close()
    const again = await opened(folder)
    expect([new Map(await again.records.list('owner/')), again.said]).toEqual([owners, []])
    await again.store.log.close()
  },
)

test('[L60.5] a text with a NUL is damaged, also where another key has broken the order', async () => {
  const folder = newFolder()
  cpSync(whole, folder, { recursive: true })
  // The first mark of the text becomes a NUL, and the other key comes too late.
  flip(folder, key.length, 1)
  flip(folder, 0, 4, 'machine/x')
  const { store, records } = await opened(folder)
  expect(await records.list('owner/')).toContainEqual([key, ''])
  expect(await records.get('machine/x')).toBe('someone')
  expect((await records.list('damaged/')).map(([each]) => each)).toContain(`damaged/${key}`)
  await store.log.close()
})

test('[L60.5] a read-only host reads past a key that is no text', async () => {
  const folder = newFolder()
  cpSync(whole, folder, { recursive: true })
  flip(folder, 6, 7, 'owner/x')
  const { records, log } = await openSqlite(folder, { readOnly: true })
  expect((await records.list('')).map(([each]) => each)).toContain('part/x')
  expect(await records.list('owner/')).toHaveLength(2)
  await log.close()
})
