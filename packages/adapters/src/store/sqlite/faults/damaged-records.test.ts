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
function flip(folder: string, at: number, bit: number): void {
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  const place = bytes.indexOf(key) + at
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
