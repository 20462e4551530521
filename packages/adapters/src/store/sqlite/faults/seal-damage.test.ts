import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { creation, envelope, range, step } from '../../../../../host/src/ports/contracts/fixture.contract.ts'
import { sealAll } from '../../../../../host/src/ports/contracts/seal.contract.ts'
import { filled, newFolder, one, open, tamper, two } from '../../../../test/store-folder.ts'

test.each([
  [
    'another hash',
    `UPDATE segments SET hash = 'x' WHERE channel = 1`,
    'numbers 1001 to 1007 has a wrong checksum',
  ],
  ['other bytes', 'UPDATE segments SET bytes = zeroblob(9) WHERE channel = 1', 'has a wrong checksum'],
  ['another first number', 'UPDATE segments SET first = 9 WHERE channel = 1', 'has a wrong checksum'],
  ['another last number', 'UPDATE segments SET last = 1008 WHERE last = 1007', 'has a wrong checksum'],
  ['another count', 'UPDATE segments SET count = 9 WHERE channel = 1', 'has a wrong checksum'],
  ['another chain', 'UPDATE segments SET after = after + 1 WHERE channel = 1', 'has a wrong checksum'],
  ['no first segment', 'DELETE FROM segments WHERE last = 1007', 'number 1013 does not continue'],
  ['no last segment', 'DELETE FROM segments WHERE last = 1013', 'number 1015 does not continue'],
  [
    'a missing row after the segments',
    'DELETE FROM envelopes WHERE seq = 1015',
    'number 1017 does not continue',
  ],
  [
    'a segment of another channel',
    'UPDATE segments SET channel = 1 WHERE channel = 2',
    'has a wrong checksum',
  ],
])(
  '[F-04] [L16] [L16.1] [L16.3] a channel with %s is damaged, and others are not',
  async (_, sql, damage) => {
    const folder = await sealed()
    tamper(folder, sql)
    const { log } = await open(folder)
    expect(await log.load(one)).toMatchObject({ damaged: expect.stringContaining(damage) })
    if (!sql.includes('channel = 2')) expect(await log.load(two)).toMatchObject({ envelopes: { length: 9 } })
    // Whatever is still returned of the damaged channel is as it was written.
    const read = await log.read([one], 0, 9999).catch(() => ({ envelopes: [] }))
    for (const each of read.envelopes) expect(each).toEqual(envelope(each.seq, one))
  },
)

test.each([
  [
    'a changed checkpoint',
    `UPDATE channels SET state = '{}' WHERE id = 1`,
    'its creation has a wrong checksum',
  ],
  ['another number of it', 'UPDATE forgotten SET seq = 9', 'its checkpoint has a wrong checksum'],
  ['another chain of it', 'UPDATE forgotten SET chain = chain + 1', 'its checkpoint has a wrong checksum'],
  ['no number of it', 'DELETE FROM forgotten', 'number 1013 does not continue'],
])('[F-04] [L20] after forgetting, %s is detected', async (_, sql, damage) => {
  const folder = await sealed()
  const { log } = await open(folder)
  expect(await log.forget({ channel: one, seq: 1009, state: '{"n":9}' }, 256)).toBe(true)
  await log.close()
  tamper(folder, sql)
  const next = await open(folder)
  expect(await next.log.load(one)).toMatchObject({ damaged: expect.stringContaining(damage) })
  expect(await next.log.load(two)).toMatchObject({ envelopes: { length: 9 } })
})

test('[F-04] [L16] [L16.3] damaged rows are not sealed, and stay as they are', async () => {
  const folder = await filled()
  tamper(folder, `UPDATE envelopes SET action = '{}' WHERE seq = 1005`)
  const { log } = await open(folder)
  const sealing = await log.seal(one, 9999, 1)
  expect(sealing).toEqual({ envelopes: 0, more: false, damaged: 'number 1005 has a wrong checksum' })
  await log.close()
  tamper(folder, 'DELETE FROM envelopes WHERE seq = 1005')
  const next = await open(folder)
  const again = await next.log.seal(one, 9999, 1)
  expect(again).toMatchObject({ damaged: 'number 1007 does not continue the one before it' })
  await next.log.close()
  expect(count(folder, 'envelopes')).toBe(17)
})

test('[F-04] [L16] after a bit flip anywhere in a sealed store it returns the original data, reports damage or does not open', async () => {
  const folder = await sealed()
  tamper(folder, 'DELETE FROM heads')
  const path = join(folder, 'atrium.db')
  const bytes = readFileSync(path)
  const readAll = async () => {
    const { log } = await open(folder, { readOnly: true })
    const read = [JSON.stringify(await log.load(one)), JSON.stringify(await log.load(two))]
    await log.close()
    return read
  }
  const original = await readAll()
  const places = [...bytes.keys()].filter((at) => bytes[at] !== 0)
  for (let i = 3; i < places.length; i += Math.ceil(places.length / 40)) {
    const at = places[i] ?? 0
    writeFileSync(path, bytes.with(at, (bytes[at] ?? 0) ^ (1 << (i % 8))))
    for (const text of await readAll().catch(() => []))
      if (text && !text.startsWith('{"damaged"')) expect(original).toContain(text)
  }
})

test('[L16.1] a segment has 500 envelopes, or as many as reach 256 Ki characters', async () => {
  const { log } = await open(newFolder())
  const long = '"' + 'x'.repeat(99_998) + '"'
  const envelopes = range(2, 600).map((seq) => envelope(seq, one))
  const others = range(2002, 5).map((seq) => ({ ...envelope(seq, two), action: long }))
  log.append(step({ created: [creation(one, 1), creation(two, 2001)], envelopes: [...envelopes, ...others] }))
  await log.flush()
  expect(await log.seal(one, 9999, 1)).toEqual({ envelopes: 500, more: true })
  expect(await log.seal(one, 9999, 1)).toMatchObject({ envelopes: 100 })
  expect(await log.seal(two, 9999, 1)).toEqual({ envelopes: 3, more: true })
  expect((await log.read([one, two], 0, 9999)).envelopes.length).toBeGreaterThan(0)
})

test('[L16] three thousand edits of a draft take a hundredth of their space when they are sealed', async () => {
  const folder = newFolder()
  const { log } = await open(folder)
  const text = range(0, 3000).map((i) => String.fromCharCode(97 + ((i * i) % 26)))
  const envelopes = range(2, 3000).map((seq) => ({
    ...envelope(seq, one),
    action: JSON.stringify({
      type: 'chat/draftChanged',
      draft: { text: text.slice(0, seq).join('').slice(-1900) },
    }),
  }))
  log.append(step({ created: [creation(one, 1)], envelopes }))
  await log.flush()
  const before = await log.read([one], 0, 9999)
  expect(await sealAll(log, one, 9999)).toBe(3000)
  expect(await log.read([one], 0, 9999)).toEqual(before)
  expect(await log.load(one)).toMatchObject({ envelopes: { length: 3000 } })
  await log.close()
  const raw = envelopes.reduce((sum, { action }) => sum + action.length, 0)
  expect(size(folder, 'segments')).toBeLessThan(raw / 100)
  expect(count(folder, 'envelopes')).toBe(0)
  expect(statSync(join(folder, 'atrium.db')).mode & 0o777).toBe(0o600)
})

/** Creates a store with two channels. The first has two segments, and two envelopes after them. The second has one segment. */
async function sealed(): Promise<string> {
  const folder = await filled()
  const { log } = await open(folder)
  for (const [channel, upTo, envelopes] of [
    [one, 1007, 4],
    [one, 1013, 3],
    [two, 1010, 5],
  ] as const)
    expect(await log.seal(channel, upTo, 1)).toMatchObject({ envelopes })
  await log.close()
  return folder
}

function ask(folder: string, sql: string): number {
  const db = new DatabaseSync(join(folder, 'atrium.db'))
  const [{ n } = { n: 0 }] = db.prepare(sql).all() as { n: number }[]
  db.close()
  return n
}

const count = (folder: string, table: string) => ask(folder, `SELECT count(*) AS n FROM ${table}`)
const size = (folder: string, table: string) => ask(folder, `SELECT sum(length(bytes)) AS n FROM ${table}`)
