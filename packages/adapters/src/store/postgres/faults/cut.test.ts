import { expect, onTestFinished, test } from 'vitest'
import {
  creation,
  envelope,
  range,
  row,
  step,
} from '../../../../../host/src/ports/contracts/fixture.contract.ts'
import { cutProxy } from '../../../../test/postgres/cut-proxy.ts'
import type { CutProxy } from '../../../../test/postgres/cut-proxy.ts'
import { epochOf, open, postgresTests } from '../../../../test/postgres/store.ts'
import type { PostgresPlace } from '../place.ts'
import { postgresLease } from '../lease.ts'

const server = postgresTests()
const one = 'ahp-chat:/1'

// The texts of actions are part of an array of PostgreSQL, in which quotation marks are escaped.

/** A place behind a proxy, and the same place without it. */
async function behindProxy(): Promise<{ proxy: CutProxy; through: PostgresPlace; place: PostgresPlace }> {
  const place = await server().place()
  const proxy = await cutProxy(server().port)
  onTestFinished(() => proxy.close())
  const through = { ...place, config: { ...place.config, host: '127.0.0.1', port: proxy.port } }
  return { proxy, place, through }
}

test.each([
  ['before it is committed', 'before'],
  ['after it is committed', 'after'],
  ['by a panic after it is committed', 'panic'],
] as const)('[L52] a batch whose connection is cut %s is stored once', async (_, when) => {
  const { proxy, place, through } = await behindProxy()
  const { log, records } = await open(through)
  log.append(step({ created: [creation(one, 1)], envelopes: [envelope(2)] }))
  await log.flush()
  for (const n of range(3, 5)) {
    const cut = proxy.cut(String.raw`n\":${n}`, when)
    log.append(step({ envelopes: [envelope(n)], rows: [row(`t${n}`, 'turn')], upTo: n }))
    records.put('last', String(n))
    await Promise.all([log.flush(), cut])
  }
  await log.close()
  const next = await open(place)
  expect(await next.log.load(one)).toMatchObject({ envelopes: range(2, 6).map((seq) => envelope(seq)) })
  expect((await next.log.rows(one, ['t3', 't7'])).rows).toHaveLength(2)
  expect(await next.records.get('last')).toBe('7')
  expect(next.log.upTo).toBe(7)
})

test.each([
  ['before a statement', 'again', 'before'],
  ['after a statement', 'channel_ids', 'after'],
  ['before its commit', 'COMMIT', 'before'],
  ['after its commit', 'COMMIT', 'after'],
  ['by a panic after its commit', 'COMMIT', 'panic'],
] as const)('[L52] a batch of several statements that is cut %s is stored once', async (_, text, when) => {
  const { proxy, place, through } = await behindProxy()
  const { log } = await open(through)
  log.append(step({ created: [creation(one, 1)], envelopes: [envelope(2)] }))
  await log.flush()
  const cut = proxy.cut(text, when)
  log.append(step({ envelopes: [envelope(3)], dropped: [{ channel: one, seq: 4 }] }))
  log.append(step({ created: [creation(one, 5)], envelopes: [{ ...envelope(6), action: '{"again":true}' }] }))
  const flushed = log.flush()
  // A read commits, too, and would be cut in place of the batch.
  await Promise.all([flushed, cut])
  log.append(step({ envelopes: [envelope(7)] }))
  await log.flush()
  await log.close()
  const next = await open(place)
  const found = await next.log.load(one)
  expect(found).toMatchObject({ seq: 5, envelopes: [{ seq: 6 }, { seq: 7 }] })
})

test('[L52] a commit of unknown outcome by an owner that is deposed meanwhile is refused, and is not stored by halves', async () => {
  const { proxy, place, through } = await behindProxy()
  const { log } = await open(through)
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  const cut = proxy.cut(String.raw`n\":2`, 'before')
  log.append(step({ envelopes: [envelope(2)] }))
  const flushed = log.flush().catch((reason: unknown) => reason)
  await cut
  proxy.shut()
  const next = await open(place, { epoch: await epochOf(place, 'two') })
  // The first batch of the new owner has the number of the one whose outcome is unknown.
  next.records.put('owner', 'two')
  await next.log.flush()
  proxy.open()
  const outcome = await flushed
  const { envelopes } = await next.log.read([one], 0, 99)
  // The flush may have been repeated before the new epoch began.
  if (outcome === undefined) expect(envelopes).toEqual([envelope(2)])
  else {
    expect(outcome).toMatchObject({ name: 'Deposed' })
    expect(envelopes).toEqual([])
  }
})

test('[L55] reads and writes wait for a database that is away, and an owner gives up after a while with a sentence', async () => {
  const { proxy, through } = await behindProxy()
  const { log } = await open(through)
  const second = await server().place()
  const impatient = await open(
    { ...second, config: { ...second.config, host: '127.0.0.1', port: proxy.port } },
    { patience: 300 },
  )
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  proxy.shut()
  log.append(step({ envelopes: [envelope(2)] }))
  const [flushed, loaded] = [log.flush(), log.load(one)]
  impatient.log.append(step({ created: [creation(one, 1)] }))
  await expect(impatient.log.flush()).rejects.toThrow(/cannot be reached: .*; gave up after \d+ seconds/)
  await expect(impatient.log.flush()).rejects.toThrow('gave up')
  proxy.open()
  await flushed
  expect(await loaded).toMatchObject({ seq: 1 })
  expect(await log.load(one)).toMatchObject({ envelopes: [envelope(2)] })
})

test('[L55.1] a lease whose second connection is cut at the start is open all the same', async () => {
  const { proxy, through } = await behindProxy()
  const cut = proxy.cut('SELECT 1', 'before')
  const lease = await postgresLease(through, { node: 'one', ms: 250_000 })
  onTestFinished(() => lease.close())
  await cut
  expect(await lease.acquire()).toBe(1)
})

test('[L40] a renewal whose connection is cut rejects, and the next one connects again', async () => {
  const { proxy, through } = await behindProxy()
  const lease = await postgresLease(through, { node: 'one', ms: 250_000 })
  onTestFinished(() => lease.close())
  const epoch = (await lease.acquire()) ?? 0
  proxy.shut()
  await expect(lease.renew(epoch)).rejects.toThrow('cannot be reached')
  await expect(lease.read()).rejects.toThrow('cannot be reached')
  proxy.open()
  expect(await lease.renew(epoch)).toBe(true)
})

test('[F-01] a server that is killed and started again has everything that was confirmed, in order, once', async (context) => {
  const { kill, start } = server()
  if (!kill || !start) return context.skip('skipped: no postgres that may be killed')
  const place = await server().place()
  const { log } = await open(place)
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  let confirmed = 1
  let killing: Promise<void> | undefined
  for (const n of range(2, 300)) {
    // The last start must have returned before the next kill. Otherwise `start` would see its server end, and fail.
    if (n % 100 === 50) await killing
    log.append(step({ envelopes: [{ ...envelope(n), action: `{"n":${n},"text":"${'x'.repeat(500)}"}` }] }))
    const flushed = log.flush()
    if (n % 100 === 50) killing = kill().then(start)
    await flushed
    confirmed = n
    const { envelopes } = await log.read([one], n - 1, n)
    expect(envelopes).toHaveLength(1)
  }
  await killing
  await log.close()
  const found = await (await open(place)).log.load(one)
  expect(found).toMatchObject({ envelopes: { length: confirmed - 1 } })
})
