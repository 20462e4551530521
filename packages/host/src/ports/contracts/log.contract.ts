import { expect, test } from 'vitest'
import { chat, creation, envelope, other, range, seqs, step } from './fixture.contract.ts'
import type { Opened } from './fixture.contract.ts'
import type { LogStore } from '../log.ts'

/** The suite for the log of a store. `load.contract.ts` has the tests of single channels. */
export function logContract(name: string, open: () => Promise<Opened>): void {
  test(`[L8] [L8.1] ${name}: flushed envelopes are there after a reopen, unchanged and in order`, async () => {
    const { store, reopen } = await open()
    const words = ['{"type":"a"}', '{"text":"ünï 𝒳 \\u0000 \\ud800"}', "'; DROP TABLE envelopes; --", '']
    const envelopes = words.map((action, i) => ({ ...envelope(i + 2), action }))
    store.log.append(step({ created: [creation(chat, 1)], envelopes }))
    await store.log.flush()
    const { log } = await reopen()
    expect(await log.read([chat], 0, 100)).toEqual({ envelopes, more: false })
  })

  test(`[L8] ${name}: an origin is read as it was written, and stays absent where there was none`, async () => {
    const { store, reopen } = await open()
    const origin = { clientId: 'ann', clientSeq: 7, principal: 'owner' }
    const envelopes = [{ ...envelope(2), origin }, envelope(3)]
    store.log.append(step({ created: [creation(chat, 1)], envelopes }))
    await store.log.flush()
    const { log } = await reopen()
    expect((await log.read([chat], 0, 100)).envelopes).toEqual(envelopes)
  })

  test(`[L8] ${name}: steps that were not flushed are not read, and are gone after a reopen`, async () => {
    const { store, reopen } = await open()
    store.log.append(step({ created: [creation(chat, 1)], envelopes: [envelope(2)] }))
    await store.log.flush()
    store.log.append(step({ created: [creation(other, 3)], envelopes: [envelope(4)] }))
    expect(seqs(await store.log.read([chat, other], 0, 100))).toEqual([2])
    expect(await store.log.load(other)).toBeUndefined()
    const { log } = await reopen()
    expect(seqs(await log.read([chat, other], 0, 100))).toEqual([2])
  })

  test(`[L4] ${name}: one flush stores all earlier steps, even those queued during another flush`, async () => {
    const { store, reopen } = await open()
    store.log.append(step({ created: [creation(chat, 1)], envelopes: [envelope(2)] }))
    const first = store.log.flush()
    store.log.append(step({ envelopes: [envelope(3)] }))
    store.log.append(step({ envelopes: [envelope(4), envelope(5)] }))
    const second = store.log.flush()
    await Promise.all([first, second, store.log.flush()])
    expect(seqs(await store.log.read([chat], 0, 100))).toEqual([2, 3, 4, 5])
    const { log } = await reopen()
    expect(seqs(await log.read([chat], 0, 100))).toEqual([2, 3, 4, 5])
  })

  test(`[L4] ${name}: a flush with nothing queued resolves`, async () => {
    const { store } = await open()
    await store.log.flush()
    expect(store.log.upTo).toBe(0)
  })

  test(`[L4] ${name}: a step is stored as a whole or not at all, and a rejection is final`, async () => {
    const { store, reopen } = await open()
    store.log.append(step({ created: [creation(chat, 1)] }))
    await store.log.flush()
    store.log.append(step({ envelopes: [envelope(2), envelope(3, 'ahp-chat:/unknown')], upTo: 900 }))
    await expect(store.log.flush()).rejects.toThrow('unknown')
    await expect(store.log.flush()).rejects.toThrow('unknown')
    const { log } = await reopen()
    expect(log.upTo).toBe(0)
    expect(seqs(await log.read([chat], 0, 100))).toEqual([])
  })

  test(`[L5] ${name}: upTo survives a reopen and never falls`, async () => {
    const { store, reopen } = await open()
    const high = 1_763_000_000_000_000
    store.log.append(step({ upTo: high }))
    store.log.append(step({ upTo: 5 }))
    await store.log.flush()
    store.log.append(step({ upTo: high + 1 }))
    const { log } = await reopen()
    expect(log.upTo).toBe(high)
  })

  test(`[L8] ${name}: several channels are read in the order of numbers, after one number and up to another`, async () => {
    const { store } = await open()
    const envelopes = [2, 3, 4, 5, 6, 7].map((seq) => envelope(seq, seq % 2 ? chat : other))
    const third = 'ahp-session:/s'
    store.log.append(
      step({
        created: [chat, other, third].map((uri) => creation(uri, 1)),
        envelopes: [...envelopes, envelope(8, third)],
      }),
    )
    await store.log.flush()
    expect(await store.log.read([other, chat], 2, 6)).toEqual({
      envelopes: envelopes.slice(1, 5),
      more: false,
    })
    expect(seqs(await store.log.read([chat, chat], 0, 100))).toEqual([3, 5, 7])
    expect(seqs(await store.log.read([], 0, 100))).toEqual([])
    expect(seqs(await store.log.read(['ahp-chat:/unknown', third], 7, 8))).toEqual([8])
  })

  test(`[L8] ${name}: a read returns slices of at most one MiB, and "more" tells whether there is another`, async () => {
    const { store } = await open()
    const text = 'x'.repeat(300_000)
    const envelopes = [2, 3, 4, 5, 6, 7].map((seq) => ({ ...envelope(seq), action: text }))
    const large = { ...envelope(8), action: 'y'.repeat(3_000_000) }
    store.log.append(step({ created: [creation(chat, 1)], envelopes: [...envelopes, large] }))
    await store.log.flush()
    const slices = await readAll(store.log, [chat])
    expect(slices.map(seqs)).toEqual([[2, 3, 4], [5, 6, 7], [8]])
    expect(slices.map(({ more }) => more)).toEqual([true, true, false])
    expect(slices.flatMap((slice) => slice.envelopes)).toEqual([...envelopes, large])
    expect((await store.log.read([chat], 0, 4)).more).toBe(false)
  })

  test(`[L8] ${name}: ten thousand envelopes in twenty channels are read, each once`, async () => {
    const { store, reopen } = await open()
    const uris = Array.from({ length: 20 }, (_, i) => `ahp-chat:/${i}`)
    store.log.append(step({ created: uris.map((uri) => creation(uri, 1)) }))
    for (let seq = 2; seq < 10_002; seq += 100)
      store.log.append(step({ envelopes: range(seq, 100).map((n) => envelope(n, uris[n % 20])) }))
    await store.log.flush()
    const { log } = await reopen()
    expect((await readAll(log, uris)).flatMap(seqs)).toEqual(range(2, 10_000))
    expect(await log.load('ahp-chat:/7')).toMatchObject({ envelopes: { length: 500 } })
  })

  test(`[L6] ${name}: dispatchedBy returns a client's newest actions above a number, of all channels, in order`, async () => {
    const { store, reopen } = await open()
    const by = (clientId: string, seq: number, channel = chat) => ({
      ...envelope(seq, channel),
      origin: { clientId, clientSeq: seq, principal: 'owner' },
    })
    const ann = range(100, 300).map((seq) => by('ann', seq, seq % 2 ? chat : other))
    const bob = [by("bob'%", 500), by('7', 501)]
    const envelopes = [...ann, ...bob, envelope(502)]
    store.log.append(step({ created: [creation(chat, 1), creation(other, 1)], envelopes }))
    expect(await store.log.dispatchedBy('ann', 0, 256)).toEqual([])
    await store.log.flush()
    store.log.append(step({ envelopes: [by('ann', 600)] }))
    const { log } = await reopen()
    expect(await log.dispatchedBy('ann', 0, 256)).toEqual(ann.slice(-256))
    expect(await log.dispatchedBy('ann', 397, 256)).toEqual(ann.slice(-2))
    expect(await log.dispatchedBy("bob'%", 0, 256)).toEqual(bob.slice(0, 1))
    expect(await log.dispatchedBy('7', 0, 256)).toEqual(bob.slice(1))
    expect(await log.dispatchedBy('nobody', 0, 256)).toEqual([])
    expect(await log.dispatchedBy('ann', 0, Number.MAX_SAFE_INTEGER)).toEqual(ann)
    log.append(step({ dropped: [{ channel: chat, seq: 700 }] }))
    await log.flush()
    expect(await log.dispatchedBy('ann', 397, 256)).toEqual(ann.slice(-2, -1))
  })

  test(`[L10] ${name}: close waits for the flush under way, and may be called twice`, async () => {
    const { store, reopen } = await open()
    store.log.append(step({ created: [creation(chat, 1)] }))
    const asked = store.log.flush()
    await Promise.all([store.log.close(), store.log.close(), asked])
    await expect(store.log.flush()).rejects.toThrow('closed')
    expect(await (await reopen()).log.load(chat)).toMatchObject({ seq: 1 })
  })
}

async function readAll(log: LogStore, channels: readonly string[]) {
  const slices = [await log.read(channels, 0, 1_000_000)]
  for (let last = slices.at(-1); last?.more; last = slices.at(-1))
    slices.push(await log.read(channels, last.envelopes.at(-1)?.seq ?? Infinity, 1_000_000))
  return slices
}
