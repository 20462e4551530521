import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { envelope, step } from '../../../../../host/src/ports/contracts/fixture.contract.ts'
import { filled, newFolder, one, open, tamper, two } from '../../../../test/store-folder.ts'

test('[F-04] a flipped bit in an envelope damages its channel; other channels stay usable', async () => {
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

test('[F-04] after a bit flip anywhere the store returns the original data, reports damage or does not open; it never returns other data', async () => {
  const folder = await filled()
  const bytes = readFileSync(join(folder, 'atrium.db'))
  const readAll = async () => {
    const { log } = await open(folder, { readOnly: true })
    const read = [JSON.stringify(await log.load(one)), JSON.stringify(await log.load(two))]
    await log.close()
    return read
  }
  const [first, second] = await readAll()
  tamper(folder, 'DELETE FROM heads')
  const folded = (await readAll())[1]
  const places = [...bytes.keys()].filter((at) => bytes[at] !== 0)
  for (let i = 7; i < places.length; i += Math.ceil(places.length / 40)) {
    const at = places[i] ?? 0
    writeFileSync(join(folder, 'atrium.db'), bytes.with(at, (bytes[at] ?? 0) ^ (1 << (i % 8))))
    const texts = await readAll().catch(() => [])
    for (const text of texts)
      if (text && !text.startsWith('{"damaged"')) expect([first, second, folded]).toContain(text)
  }
})

test.each([
  ['a removed row', 'DELETE FROM envelopes WHERE seq = 1005', 'number 1007 does not continue'],
  ['a removed first row', 'DELETE FROM envelopes WHERE seq = 1001', 'number 1003 does not continue'],
  ['a removed last row', 'DELETE FROM envelopes WHERE seq = 1017', 'after number 1015 are missing'],
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
  [
    'a changed creation',
    `UPDATE channels SET state = '{}' WHERE id = 1`,
    'its creation has a wrong checksum',
  ],
  ['a changed kind', `UPDATE channels SET kind = 'root' WHERE id = 1`, 'its creation has a wrong checksum'],
  ['a missing tail', 'DELETE FROM tails WHERE channel = 1', 'its tail is missing'],
])('[F-04] [L8.1] [L8.4] %s is detected', async (_, sql, damage) => {
  const folder = await filled()
  tamper(folder, sql)
  const { log } = await open(folder)
  expect(await log.load(one)).toMatchObject({ damaged: expect.stringContaining(damage) })
})

test.each([
  ['a bad head', `UPDATE heads SET state = '{}'`],
  ['a head that claims another number', 'UPDATE heads SET seq = 1010'],
  ['a head of another chain', 'UPDATE heads SET chain = chain + 1'],
  ['a missing head', 'DELETE FROM heads'],
  ['a changed row', `UPDATE rows SET text = 'other' WHERE id = 't1'`],
  ['a removed row', `DELETE FROM rows WHERE id = 't2'`],
  ['a row moved to another channel', `UPDATE rows SET channel = 1 WHERE id = 't2'`],
])('[F-05] [L8.3] %s leads to a replay from the creation', async (_, sql) => {
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

test('[F-05] [L9] [L9.11] a changed older row is detected when it is read, or when all rows are loaded', async () => {
  const folder = await filled()
  tamper(folder, `UPDATE rows SET text = 'other' WHERE id = 't1'`)
  const { log } = await open(folder)
  expect(await log.load(two, 1)).toMatchObject({ rowIds: ['t1', 't2'], rows: ['two'], fromCreation: false })
  expect(await log.rows(two, ['t1', 't2'])).toEqual({ rows: [{ id: 't2', text: 'two' }], more: false })
  expect(await log.load(two, 2)).toMatchObject({ fromCreation: true })
})

test.each([
  ['a removed row', `DELETE FROM rows WHERE id = 't1'`],
  ['a row moved to another channel', `UPDATE rows SET channel = 1 WHERE id = 't1'`],
  ['a row with another sum', `UPDATE rows SET sum = sum + 1 WHERE id = 't1'`],
  ['an inserted row', `INSERT INTO rows (channel, id, text, sum) VALUES (2, 't0', 'zero', 5)`],
])('[F-05] [L9] [L9.11] %s is detected, however few rows are loaded', async (_, sql) => {
  const folder = await filled()
  tamper(folder, sql)
  expect(await (await open(folder)).log.load(two, 1)).toMatchObject({ fromCreation: true, rowIds: [] })
})

test('[F-04] [L9] after a bit flip in the list of rows the store returns the original data, replays from the creation or reports damage', async () => {
  const folder = await filled()
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  const readAll = async () => {
    const { log } = await open(folder, { readOnly: true })
    const read = [JSON.stringify(await log.load(two, 1)), JSON.stringify(await log.rows(two, ['t1', 't2']))]
    await log.close()
    return read
  }
  const [original = ''] = await readAll()
  tamper(folder, 'DELETE FROM heads')
  const [folded = ''] = await readAll()
  const rows = [
    ['t1', 'one'],
    ['t2', 'two'],
  ]
  let flips = 0
  // The id of the row is in the file three times: in the table and in both indexes.
  for (let at = bytes.indexOf('t1'); at >= 0; at = bytes.indexOf('t1', at + 1)) {
    flips++
    writeFileSync(path, bytes.with(at + 1, '7'.charCodeAt(0)))
    const [loaded = '', read = '{"rows":[]}'] = await readAll().catch(() => [])
    if (loaded && !loaded.startsWith('{"damaged"')) expect([original, folded]).toContain(loaded)
    const { rows: found } = JSON.parse(read) as { rows: { id: string; text: string }[] }
    for (const { id, text } of found) expect(rows).toContainEqual([id, text])
  }
  expect(flips).toBe(3)
})

test.each([
  ['its URI in the index', 1],
  ['its URI in the table', 0],
])('[F-04] [L8.4] a channel does not seem absent after damage to %s', async (_, which) => {
  const folder = await filled()
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  // In the table the kind follows the URI, in the index the channel's id does.
  const [inTable, inIndex] = ['ahp-chat:/2chat', 'ahp-chat:/2\x02'].map((text) => bytes.lastIndexOf(text))
  const at = (which === 1 ? inIndex : inTable) ?? -1
  expect(at).toBeGreaterThan(0)
  bytes.write('X', at + 10)
  writeFileSync(path, bytes)
  const loaded = await (await open(folder)).log.load(two)
  if (which === 1) expect(loaded).toEqual({ damaged: 'the index of channels has lost it' })
  else expect(loaded).toMatchObject({ seq: 1, envelopes: { length: 9 } })
})

test('[F-04] [L5] a store without its highest number is refused', async () => {
  const folder = await filled()
  tamper(folder, `UPDATE meta SET key = 'upTn' WHERE key = 'upTo'`)
  for (const options of [{}, { readOnly: true }])
    await expect(open(folder, options)).rejects.toMatchObject({
      name: 'StoreUnreadable',
      message: expect.stringContaining(folder),
    })
})

test('[F-04] damage outside of channels is reported with the folder', async () => {
  const folder = await filled()
  tamper(folder, `INSERT INTO records VALUES ('key', '${'x'.repeat(9000)}')`)
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  // The end of the record is in overflow pages. The test damages the pointers to these pages.
  const page = 4096
  for (let at = page; at < bytes.length; at += page)
    if (bytes.subarray(at + 4, at + page).every((byte) => byte === 0x78)) bytes.writeUInt32BE(0xffff, at)
  writeFileSync(path, bytes)
  const { records } = await open(folder)
  await expect(records.get('key')).rejects.toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringContaining(folder),
  })
})

test('[F-03] a truncated journal keeps every transaction before the cut, and none after it', async () => {
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
  const truncated = await open(copy)
  const loaded = await truncated.log.load(two)
  const last = loaded && 'envelopes' in loaded ? loaded.envelopes.at(-1)?.seq : 0
  expect(last).toBeGreaterThan(2000)
  expect(last).toBeLessThan(2009)
})

test('[F-03] a file that is no database, or the database of another program, is named in the error and not changed', async () => {
  const folder = newFolder()
  const path = join(folder, 'atrium.db')
  writeFileSync(path, 'Dear diary, '.repeat(1000))
  await expect(open(folder)).rejects.toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringContaining(path),
  })
  expect(readFileSync(path, 'utf8')).toBe('Dear diary, '.repeat(1000))
  rmSync(path)
  tamper(folder, 'CREATE TABLE diary (page)')
  await expect(open(folder)).rejects.toThrow('another program')
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
