import { expect, test } from 'vitest'
import { chat, creation, envelope, head, other, range, row, seqs, step } from './fixture.contract.ts'
import type { Opened } from './fixture.contract.ts'
import type { LogStore } from '../log.ts'

/** The suite for sealed envelopes: whatever is sealed, every other method of the store returns the same as before. */
export function sealContract(name: string, open: () => Promise<Opened>): void {
  test(`[L16] ${name}: sealed envelopes are read, loaded and found by their client as before, also after a reopen`, async () => {
    const { store, reopen } = await open()
    const words = ['{"type":"a"}', '{"text":"ünï 𝒳 \\u0000 \\ud800"}', "'; DROP TABLE segments; --", '']
    const odd = words.map((action, i) => ({ ...envelope(i + 2), action }))
    const plain = range(6, 300).map((seq) =>
      seq % 3 === 0
        ? {
            ...envelope(seq),
            origin: { clientId: seq % 2 ? 'ann' : "b'", clientSeq: seq, principal: 'owner' },
          }
        : envelope(seq, seq % 3 === 1 ? chat : other),
    )
    store.log.append(
      step({ created: [creation(chat, 1), creation(other, 1)], envelopes: [...odd, ...plain], upTo: 1000 }),
    )
    store.log.append(step({ heads: [head(20)], rows: [row('t1', 'one')] }))
    await store.log.flush()
    const before = await everything(store.log)
    expect(before.read.flatMap(seqs)).toHaveLength(304)
    expect(await store.log.seal(chat, 250, 1)).toMatchObject({ envelopes: expect.any(Number) })
    expect(await everything(store.log)).toEqual(before)
    await sealAll(store.log, chat, 305)
    await sealAll(store.log, other, 100)
    expect(await everything(store.log)).toEqual(before)
    const { log } = await reopen()
    expect(await everything(log)).toEqual(before)
    expect(log.upTo).toBe(1000)
  })

  test(`[L16] ${name}: sealing returns how many envelopes it sealed, and seals none twice`, async () => {
    const { store } = await open()
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes: range(2, 40).map((seq) => envelope(seq)) }),
    )
    await store.log.flush()
    expect(await store.log.seal(chat, 21, 1)).toMatchObject({ envelopes: 20 })
    expect(await store.log.seal(chat, 21, 1)).toEqual({ envelopes: 0, more: false })
    expect(await sealAll(store.log, chat, Number.MAX_SAFE_INTEGER)).toBe(20)
    expect(await store.log.seal('ahp-chat:/unknown', 100, 1)).toEqual({ envelopes: 0, more: false })
  })

  test(`[L16] ${name}: a slice with too little text is not sealed, and a long log is sealed in several slices`, async () => {
    const { store } = await open()
    const envelopes = range(2, 5).map((seq) => ({ ...envelope(seq), action: 'x'.repeat(400_000) }))
    store.log.append(step({ created: [creation(chat, 1)], envelopes }))
    await store.log.flush()
    expect(await store.log.seal(chat, 100, 3_000_000)).toEqual({ envelopes: 0, more: false })
    expect(await store.log.seal(chat, 2, 400_001)).toEqual({ envelopes: 0, more: false })
    const first = await store.log.seal(chat, 100, 400_000)
    expect(first).toMatchObject({ more: true })
    expect(first.envelopes).toBeLessThan(5)
    expect(first.envelopes + (await sealAll(store.log, chat, 100))).toBe(5)
    expect((await readAll(store.log)).flatMap(({ envelopes: read }) => read)).toEqual(envelopes)
  })

  test(`[L16] ${name}: a channel with sealed envelopes goes on, from its creation and from its head`, async () => {
    const { store, reopen } = await open()
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes: range(2, 20).map((seq) => envelope(seq)) }),
    )
    await store.log.flush()
    await sealAll(store.log, chat, 15)
    store.log.append(step({ envelopes: [envelope(22)] }))
    await store.log.flush()
    expect(await store.log.load(chat)).toMatchObject({
      seq: 1,
      fromCreation: true,
      envelopes: { length: 21 },
    })
    // A head may be stored at a number inside, at the end of, or after the sealed envelopes.
    for (const at of [10, 15, 18, 22, 30]) {
      store.log.append(step({ heads: [head(at)] }))
      await store.log.flush()
      const envelopes = [...range(2, 20), 22].filter((seq) => seq > at).map((seq) => envelope(seq))
      expect(await store.log.load(chat)).toMatchObject({ seq: at, fromCreation: false, envelopes })
    }
    await sealAll(store.log, chat, 22)
    store.log.append(step({ envelopes: [envelope(31)], heads: [head(40)] }))
    store.log.append(step({ envelopes: [envelope(41)] }))
    await store.log.flush()
    const { log } = await reopen()
    expect(await log.load(chat)).toMatchObject({ seq: 40, fromCreation: false, envelopes: [envelope(41)] })
  })

  test(`[L16] ${name}: a client's newest actions are found among sealed and other envelopes of several channels`, async () => {
    const { store } = await open()
    const by = (seq: number) => ({
      ...envelope(seq, seq % 2 ? chat : other),
      origin: { clientId: seq % 5 ? 'ann' : 'bob', clientSeq: seq, principal: 'owner' },
    })
    const all = range(2, 400).map(by)
    const ann = all.filter(({ origin }) => origin.clientId === 'ann')
    store.log.append(step({ created: [creation(chat, 1), creation(other, 1)], envelopes: all }))
    await store.log.flush()
    for (const upTo of [50, 120, 390]) {
      await sealAll(store.log, chat, upTo)
      await sealAll(store.log, other, upTo / 2)
      for (const most of [1, 30, 256]) {
        expect(await store.log.dispatchedBy('ann', 0, most)).toEqual(ann.slice(-most))
        expect(await store.log.dispatchedBy('ann', 380, most)).toEqual(
          ann.filter(({ seq }) => seq > 380).slice(-most),
        )
      }
      expect(await store.log.dispatchedBy('ann', 0, Number.MAX_SAFE_INTEGER)).toEqual(ann)
      expect(await store.log.dispatchedBy('nobody', 0, 256)).toEqual([])
    }
  })

  test(`[L16] ${name}: the sealed envelopes of a dropped channel are gone, and its URI begins empty`, async () => {
    const { store, reopen } = await open()
    const origin = { clientId: 'ann', clientSeq: 1, principal: 'owner' }
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes: [{ ...envelope(2), origin }, envelope(3)] }),
    )
    await store.log.flush()
    await sealAll(store.log, chat, 3)
    store.log.append(step({ dropped: [{ channel: chat, seq: 4 }] }))
    store.log.append(step({ created: [creation(chat, 5)], envelopes: [envelope(6)] }))
    await store.log.flush()
    const { log } = await reopen()
    expect(await log.load(chat)).toMatchObject({ seq: 5, envelopes: [envelope(6)] })
    expect(seqs(await log.read([chat], 0, 100))).toEqual([6])
    expect(await log.dispatchedBy('ann', 0, 256)).toEqual([])
  })

  test(`[L16] [L16.2] ${name}: envelopes that are not flushed are not sealed, and flushes during a sealing lose nothing`, async () => {
    const { store } = await open()
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes: range(2, 1000).map((seq) => envelope(seq)) }),
    )
    await store.log.flush()
    store.log.append(step({ envelopes: [envelope(1002)] }))
    const sealing = sealAll(store.log, chat, 5000)
    for (const seq of range(1003, 30)) {
      store.log.append(step({ envelopes: [envelope(seq)] }))
      await store.log.flush()
    }
    await sealing
    expect((await readAll(store.log)).flatMap(seqs)).toEqual(range(2, 1031))
    expect(await store.log.load(chat)).toMatchObject({ envelopes: { length: 1031 } })
  })

  test(`[L16] ${name}: a channel that is dropped while it is being sealed stays dropped`, async () => {
    const { store } = await open()
    const envelopes = range(2, 500).map((seq) => envelope(seq))
    store.log.append(step({ created: [creation(chat, 1)], envelopes }))
    await store.log.flush()
    const sealing = store.log.seal(chat, 5000, 1)
    store.log.append(step({ dropped: [{ channel: chat, seq: 600 }] }))
    store.log.append(step({ created: [creation(chat, 601)], envelopes: [envelope(602)] }))
    await Promise.all([sealing, store.log.flush()])
    expect(await store.log.load(chat)).toMatchObject({ seq: 601, envelopes: [envelope(602)] })
    expect(seqs(await store.log.read([chat], 0, 1000))).toEqual([602])
  })

  test(`[L16] ${name}: close waits for the sealing under way, and nothing is sealed afterwards`, async () => {
    const { store, reopen } = await open()
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes: range(2, 500).map((seq) => envelope(seq)) }),
    )
    await store.log.flush()
    await Promise.all([store.log.seal(chat, 5000, 1), store.log.close()])
    await expect(store.log.seal(chat, 5000, 1)).rejects.toThrow('closed')
    expect(await (await reopen()).log.load(chat)).toMatchObject({ envelopes: { length: 500 } })
  })
}

/** Everything that the store returns about the two channels and the two clients. */
async function everything(log: LogStore) {
  return {
    read: await readAll(log),
    between: await log.read([other, chat], 40, 200),
    loaded: [await log.load(chat), await log.load(other)],
    ann: await log.dispatchedBy('ann', 0, 20),
    bob: await log.dispatchedBy("b'", 100, 256),
  }
}

async function readAll(log: LogStore) {
  const slices = [await log.read([chat, other], 0, 1_000_000)]
  for (let last = slices.at(-1); last?.more; last = slices.at(-1))
    slices.push(await log.read([chat, other], last.envelopes.at(-1)?.seq ?? Infinity, 1_000_000))
  return slices
}

/** Seals everything up to a number. Returns how many envelopes were sealed. */
export async function sealAll(log: LogStore, channel: string, upTo: number): Promise<number> {
  let count = 0
  for (let more = true; more;) {
    const sealed = await log.seal(channel, upTo, 1)
    count += sealed.envelopes
    more = sealed.more
  }
  return count
}
