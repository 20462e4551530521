import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { envelope, step } from '../../../../host/src/ports/fixture.contract.ts'
import { filled, newFolder, one, open, tamper, two } from '../../../test/store-folder.ts'

test('[F-04] a flipped bit in an envelope damages its channel; the others go on', async () => {
  const folder = await filled()
  flip(folder, '"n":1005')
  const { log } = await open(folder)
  expect(await log.load(one)).toEqual({ damaged: 'number 1005 has a wrong checksum' })
  await expect(log.read([one], 0, 9999)).rejects.toThrow('number 1005')
  expect(await log.load(two)).toMatchObject({ seq: 1, fromCreation: false })
  log.append(step({ envelopes: [envelope(3000, two)] }))
  await log.flush()
  expect(await log.load(two)).toMatchObject({ envelopes: { length: 10 } })
})

test('[F-04] a bit flipped anywhere gives the truth, a damage or a refusal: never another story', async () => {
  const folder = await filled()
  const bytes = readFileSync(join(folder, 'atrium.db'))
  const stories = async () => {
    const { log } = await open(folder, { readOnly: true })
    const told = [JSON.stringify(await log.load(one)), JSON.stringify(await log.load(two))]
    await log.close()
    return told
  }
  const [first, second] = await stories()
  tamper(folder, 'DELETE FROM heads')
  const folded = (await stories())[1]
  const places = [...bytes.keys()].filter((at) => bytes[at] !== 0)
  for (let i = 7; i < places.length; i += Math.ceil(places.length / 40)) {
    const at = places[i] ?? 0
    writeFileSync(join(folder, 'atrium.db'), bytes.with(at, (bytes[at] ?? 0) ^ (1 << (i % 8))))
    const told = await stories().catch(() => [])
    for (const story of told)
      if (story && !story.startsWith('{"damaged"')) expect([first, second, folded]).toContain(story)
  }
})

test.each([
  ['a removed row', 'DELETE FROM envelopes WHERE seq = 1005', 'number 1007 does not continue'],
  ['a removed first row', 'DELETE FROM envelopes WHERE seq = 1001', 'number 1003 does not continue'],
  ['a removed last row', 'DELETE FROM envelopes WHERE seq = 1017', 'after number 1015 is missing'],
  [
    'a row of another channel',
    'UPDATE envelopes SET channel = 1 WHERE seq = 1004',
    'number 1004 has a wrong',
  ],
  ['rows in another order', 'UPDATE envelopes SET seq = 9 WHERE seq = 1005', 'number 9 has a wrong'],
  [
    'an origin that was added',
    `UPDATE envelopes SET origin = '{}' WHERE seq = 1005`,
    'number 1005 has a wrong',
  ],
  ['a changed birth', `UPDATE channels SET state = '{}' WHERE id = 1`, 'its birth has a wrong checksum'],
  ['a changed kind', `UPDATE channels SET kind = 'root' WHERE id = 1`, 'its birth has a wrong checksum'],
  ['a missing end', 'DELETE FROM tails WHERE channel = 1', 'its end is missing'],
])('[F-04] %s is noticed', async (_, sql, damage) => {
  const folder = await filled()
  tamper(folder, sql)
  const { log } = await open(folder)
  expect(await log.load(one)).toMatchObject({ damaged: expect.stringContaining(damage) as string })
})

test.each([
  ['a bad head', `UPDATE heads SET state = '{}'`],
  ['a head that claims another number', 'UPDATE heads SET seq = 1010'],
  ['a head of another chain', 'UPDATE heads SET chain = chain + 1'],
  ['a missing head', 'DELETE FROM heads'],
  ['a changed row', `UPDATE rows SET text = 'other' WHERE id = 't1'`],
  ['a removed row', `DELETE FROM rows WHERE id = 't2'`],
  ['a row that strayed', `UPDATE rows SET channel = 1 WHERE id = 't2'`],
])('[F-05] %s means folding from the birth', async (_, sql) => {
  const folder = await filled()
  tamper(folder, sql)
  const { log } = await open(folder)
  const envelopes = Array.from({ length: 9 }, (_none, i) => envelope(1002 + 2 * i, two))
  expect(await log.load(two)).toEqual({
    ...createdTwo,
    rowIds: [],
    rows: [],
    fromCreation: true,
    envelopes,
  })
})

test('[F-05] [L9] an older row that was changed is found when it is read, or when all are loaded', async () => {
  const folder = await filled()
  tamper(folder, `UPDATE rows SET text = 'other' WHERE id = 't1'`)
  const { log } = await open(folder)
  expect(await log.load(two, 1)).toMatchObject({ rowIds: ['t1', 't2'], rows: ['two'], fromCreation: false })
  expect(await log.rows(two, ['t1', 't2'])).toEqual({ rows: [{ id: 't2', text: 'two' }], more: false })
  expect(await log.load(two, 2)).toMatchObject({ fromCreation: true })
})

test.each([
  ['a removed row', `DELETE FROM rows WHERE id = 't1'`],
  ['a row that strayed', `UPDATE rows SET channel = 1 WHERE id = 't1'`],
  ['a row with another sum', `UPDATE rows SET sum = sum + 1 WHERE id = 't1'`],
  ['a row that came from somewhere', `INSERT INTO rows (channel, id, text, sum) VALUES (2, 't0', 'zero', 5)`],
])('[F-05] [L9] %s is noticed, however few rows are loaded', async (_, sql) => {
  const folder = await filled()
  tamper(folder, sql)
  expect(await (await open(folder)).log.load(two, 1)).toMatchObject({ fromCreation: true, rowIds: [] })
})

test('[F-04] [L9] a bit flipped in the list of rows gives the truth, a fold from the birth, or a damage', async () => {
  const folder = await filled()
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  const stories = async () => {
    const { log } = await open(folder, { readOnly: true })
    const told = [JSON.stringify(await log.load(two, 1)), JSON.stringify(await log.rows(two, ['t1', 't2']))]
    await log.close()
    return told
  }
  const [truth = ''] = await stories()
  tamper(folder, 'DELETE FROM heads')
  const [folded = ''] = await stories()
  const rows = [
    ['t1', 'one'],
    ['t2', 'two'],
  ]
  let flips = 0
  // Each place where an id stands: in the table, and in both indexes.
  for (let at = bytes.indexOf('t1'); at >= 0; at = bytes.indexOf('t1', at + 1)) {
    flips++
    writeFileSync(path, bytes.with(at + 1, '7'.charCodeAt(0)))
    const [loaded = '', read = '{"rows":[]}'] = await stories().catch(() => [])
    if (loaded && !loaded.startsWith('{"damaged"')) expect([truth, folded]).toContain(loaded)
    const { rows: found } = JSON.parse(read) as { rows: { id: string; text: string }[] }
    for (const { id, text } of found) expect(rows).toContainEqual([id, text])
  }
  expect(flips).toBe(3)
})

test.each([
  ['its name in the index', 1],
  ['its name in the table', 0],
])('[F-04] a channel is not absent because %s is another', async (_, which) => {
  const folder = await filled()
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  // In the table it is followed by the kind, in the index by the id.
  const [inTable, inIndex] = ['ahp-chat:/2chat', 'ahp-chat:/2\x02'].map((text) => bytes.lastIndexOf(text))
  const at = (which === 1 ? inIndex : inTable) ?? -1
  expect(at).toBeGreaterThan(0)
  bytes.write('X', at + 10)
  writeFileSync(path, bytes)
  const loaded = await (await open(folder)).log.load(two)
  if (which === 1) expect(loaded).toEqual({ damaged: 'it cannot be found by its name' })
  else expect(loaded).toMatchObject({ seq: 1, envelopes: { length: 9 } })
})

test('[F-04] [L5] a store that does not know how far its numbers ran is refused', async () => {
  const folder = await filled()
  tamper(folder, `UPDATE meta SET key = 'upTn' WHERE key = 'upTo'`)
  for (const options of [{}, { readOnly: true }])
    await expect(open(folder, options)).rejects.toMatchObject({
      name: 'StoreUnreadable',
      message: expect.stringContaining(folder) as string,
    })
})

test('[F-04] where the damage is nobody’s in particular, the folder is named', async () => {
  const folder = await filled()
  tamper(folder, `INSERT INTO records VALUES ('key', '${'x'.repeat(9000)}')`)
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  // The pages that follow the record's first, by their own pointers.
  const page = 4096
  for (let at = page; at < bytes.length; at += page)
    if (bytes.subarray(at + 4, at + page).every((byte) => byte === 0x78)) bytes.writeUInt32BE(0xffff, at)
  writeFileSync(path, bytes)
  const { records } = await open(folder)
  await expect(records.get('key')).rejects.toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringContaining(folder) as string,
  })
})

test('[F-03] a torn journal gives every transaction before the tear, and none after', async () => {
  const folder = await filled()
  const { log } = await open(folder)
  for (let seq = 2000; seq < 2010; seq++) {
    log.append(step({ envelopes: [envelope(seq, two)] }))
    await log.flush()
  }
  const journal = readFileSync(join(folder, 'atrium.db-wal'))
  const copy = newFolder()
  writeFileSync(join(copy, 'atrium.db'), readFileSync(join(folder, 'atrium.db')))
  writeFileSync(join(copy, 'atrium.db-wal'), journal.subarray(0, journal.length - 5000))
  const torn = await open(copy)
  const loaded = await torn.log.load(two)
  const last = loaded && 'envelopes' in loaded ? loaded.envelopes.at(-1)?.seq : 0
  expect(last).toBeGreaterThan(2000)
  expect(last).toBeLessThan(2009)
})

test('[F-03] a file that is no database, or another one, is left alone and named', async () => {
  const folder = newFolder()
  const path = join(folder, 'atrium.db')
  writeFileSync(path, 'Dear diary, '.repeat(1000))
  await expect(open(folder)).rejects.toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringContaining(path) as string,
  })
  expect(readFileSync(path, 'utf8')).toBe('Dear diary, '.repeat(1000))
  rmSync(path)
  tamper(folder, 'CREATE TABLE diary (page)')
  await expect(open(folder)).rejects.toThrow('something else')
})

const createdTwo = { kind: 'chat', seq: 1, state: '{"n":1}' }

function flip(folder: string, text: string): void {
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  const at = bytes.indexOf(text)
  expect(at).toBeGreaterThan(0)
  bytes[at + 1] = (bytes[at + 1] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
