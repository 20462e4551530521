import { expect, test } from 'vitest'
import { chat, creation, envelope, head, other, range, row, seqs, step } from './fixture.contract.ts'
import type { Opened } from './fixture.contract.ts'
import type { LogStore } from '../log.ts'
import { sealAll } from './seal.contract.ts'

const origin = { clientId: 'ann', clientSeq: 1, principal: 'owner' }
/** The number of a large channel's envelopes: more than a store deletes at once. */
const many = 3000

/** The suite for dropped channels: a channel is gone at once, although what it has left is deleted slice by slice. */
export function dropContract(name: string, open: () => Promise<Opened>): void {
  test(`[L21] ${name}: a large channel is gone as soon as it is dropped, and stays gone while its data is deleted`, async () => {
    const { store, reopen } = await open()
    await fill(store.log)
    store.log.append(step({ dropped: [{ channel: chat, seq: 9000 }] }))
    await store.log.flush()
    await expectGone(store.log)
    await store.log.shrink()
    await expectGone(store.log)
    const { log } = await reopen()
    await expectGone(log)
    while (await log.shrink());
    await expectGone(log)
    expect(await log.seal(chat, 9999, 1)).toEqual({ envelopes: 0, more: false })
    expect(await log.creation(chat)).toBeUndefined()
  })

  test(`[L21] ${name}: the URI of a dropped channel begins anew, and keeps what it gets while the old data is deleted`, async () => {
    const { store, reopen } = await open()
    await fill(store.log)
    store.log.append(step({ dropped: [{ channel: chat, seq: 9000 }] }))
    store.log.append(
      step({ created: [creation(chat, 9001)], envelopes: [envelope(9002)], rows: [row('t1', 'new')] }),
    )
    await store.log.flush()
    await store.log.shrink()
    store.log.append(step({ created: [creation('ahp-chat:/new', 9003)], envelopes: [envelope(9004)] }))
    await store.log.flush()
    while (await store.log.shrink());
    for (const again of [async () => store, reopen]) {
      const { log } = await again()
      expect(seqs(await log.read([chat], 0, 9999))).toEqual([9002, 9004])
      expect(await log.load(chat)).toMatchObject({ seq: 9001, envelopes: { length: 2 } })
      expect((await log.rows(chat, ['t0', 't1'])).rows).toEqual([{ id: 't1', text: 'new' }])
      expect(await log.load('ahp-chat:/new')).toMatchObject({ seq: 9003, envelopes: [] })
    }
  })

  test(`[L21] ${name}: several dropped channels are deleted, and their neighbour stays whole`, async () => {
    const { store, reopen } = await open()
    await fill(store.log)
    const third = 'ahp-chat:/3'
    store.log.append(step({ created: [creation(third, 1)], envelopes: [envelope(8500, third)] }))
    store.log.append(step({ dropped: [chat, third].map((channel) => ({ channel, seq: 9000 })) }))
    await store.log.flush()
    const before = await store.log.load(other)
    while (await store.log.shrink());
    const { log } = await reopen()
    expect(await log.load(other)).toEqual(before)
    expect(seqs(await log.read([other, chat, third], 0, 9999))).toEqual(range(5000, 20))
  })
}

/** Fills a large channel, half of it sealed, with rows, a head and the actions of a client; and a small neighbour. */
async function fill(log: LogStore): Promise<void> {
  log.append(step({ created: [creation(chat, 1), creation(other, 1)] }))
  log.append(step({ envelopes: range(2, many).map((seq) => ({ ...envelope(seq), origin })) }))
  log.append(step({ envelopes: range(5000, 20).map((seq) => envelope(seq, other)) }))
  log.append(step({ rows: range(0, 1000).map((n) => row(`t${n}`, `turn ${n}`)), heads: [head(many + 1)] }))
  await log.flush()
  await sealAll(log, chat, many / 2)
}

async function expectGone(log: LogStore): Promise<void> {
  expect(await log.load(chat)).toBeUndefined()
  expect(seqs(await log.read([chat, other], 0, 9999))).toEqual(range(5000, 20))
  expect(await log.dispatchedBy('ann', 0, 256)).toEqual([])
  expect(await log.rows(chat, ['t1'])).toEqual({ rows: [], more: false })
}
