import { expect, test } from 'vitest'
import { chat, creation, envelope, head, other, range, row, seqs, step } from './fixture.contract.ts'
import type { Opened } from './fixture.contract.ts'
import { sealAll } from './seal.contract.ts'

/** The suite for forgotten envelopes: a checkpoint takes their place, and no read hides that they are gone. */
export function forgetContract(name: string, open: () => Promise<Opened>): void {
  const checkpoint = (seq: number) => ({ channel: chat, seq, state: `{"checkpoint":${seq}}` })

  test.each([
    ['rows', 0],
    ['a divided segment', 15],
    ['a whole segment', 10],
    ['segments only', 21],
  ])(
    `[L20] [L20.2] [L20.3] ${name}: a channel of %s begins with its checkpoint, and goes on`,
    async (_, sealedTo) => {
      const { store, reopen } = await open()
      store.log.append(
        step({
          created: [creation(chat, 1), creation(other, 1)],
          envelopes: range(2, 20).map((seq) => envelope(seq)),
        }),
      )
      store.log.append(step({ envelopes: [envelope(30, other)] }))
      await store.log.flush()
      if (sealedTo > 0) await sealAll(store.log, chat, sealedTo)
      expect(await store.log.creation(chat)).toEqual(creation(chat, 1))
      expect(await store.log.forget(checkpoint(10), 256)).toBe(true)
      store.log.append(step({ envelopes: [envelope(40)] }))
      await store.log.flush()
      await sealAll(store.log, chat, 20)
      const { log } = await reopen()
      const left = [...range(11, 11), 40]
      expect(await log.load(chat)).toMatchObject({
        seq: 10,
        state: '{"checkpoint":10}',
        fromCreation: true,
        envelopes: left.map((seq) => envelope(seq)),
      })
      expect(await log.creation(chat)).toEqual({ ...creation(chat, 10), state: '{"checkpoint":10}' })
      for (const after of [0, 5, 9])
        expect(await log.read([chat, other], after, 100)).toMatchObject({ forgotten: true })
      const read = await log.read([chat, other], 10, 100)
      expect([seqs(read), read.forgotten]).toEqual([[...range(11, 11), 30, 40], undefined])
      expect((await log.read([other], 0, 100)).forgotten).toBeUndefined()
      expect(await log.forget(checkpoint(25), 256)).toBe(true)
      expect(await log.load(chat)).toMatchObject({ seq: 25, envelopes: [envelope(40)] })
    },
  )

  test(`[L20] ${name}: a checkpoint is refused that does not lie after the beginning of its channel`, async () => {
    const { store } = await open()
    store.log.append(
      step({ created: [creation(chat, 5)], envelopes: range(6, 5).map((seq) => envelope(seq)) }),
    )
    await store.log.flush()
    expect(await store.log.forget(checkpoint(5), 256)).toBe(false)
    expect(await store.log.forget({ ...checkpoint(8), channel: 'ahp-chat:/unknown' }, 256)).toBe(false)
    expect(await store.log.forget(checkpoint(8), 256)).toBe(true)
    expect(await store.log.forget(checkpoint(7), 256)).toBe(false)
    expect(await store.log.creation('ahp-chat:/unknown')).toBeUndefined()
  })

  test(`[L20] ${name}: a newer head stays, and an older one is not used any more`, async () => {
    const { store } = await open()
    const envelopes = range(2, 20).map((seq) => envelope(seq))
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes, heads: [head(15)], rows: [row('t1', 'one')] }),
    )
    await store.log.flush()
    await store.log.forget(checkpoint(10), 256)
    expect(await store.log.load(chat)).toMatchObject({ seq: 15, rows: ['one'], envelopes: { length: 6 } })
    await store.log.forget(checkpoint(18), 256)
    expect(await store.log.load(chat)).toMatchObject({
      seq: 18,
      fromCreation: true,
      envelopes: { length: 3 },
    })
    store.log.append(step({ heads: [head(20)] }))
    await store.log.flush()
    expect(await store.log.load(chat)).toMatchObject({
      seq: 20,
      fromCreation: false,
      envelopes: [envelope(21)],
    })
  })

  test(`[L20] [L6] ${name}: the newest actions of each client are found after they were forgotten`, async () => {
    const { store, reopen } = await open()
    const by = (seq: number) => ({
      ...envelope(seq, seq % 2 ? chat : other),
      origin: { clientId: seq % 3 ? 'ann' : 'bob', clientSeq: seq, principal: 'owner' },
    })
    const all = range(2, 200).map(by)
    store.log.append(step({ created: [creation(chat, 1), creation(other, 1)], envelopes: all }))
    await store.log.flush()
    await sealAll(store.log, chat, 100)
    await store.log.forget(checkpoint(60), 50)
    await store.log.forget(checkpoint(120), 50)
    const { log } = await reopen()
    for (const client of ['ann', 'bob']) {
      const own = all.filter(({ origin }) => origin.clientId === client)
      expect(await log.dispatchedBy(client, 0, 50)).toEqual(own.slice(-50))
      expect(await log.dispatchedBy(client, 190, 50)).toEqual(own.filter(({ seq }) => seq > 190))
    }
    await log.forget(checkpoint(201), 50)
    const kept = await log.dispatchedBy('bob', 0, Number.MAX_SAFE_INTEGER)
    const bob = all.filter(({ origin }) => origin.clientId === 'bob')
    expect(kept.slice(-50)).toEqual(bob.slice(-50))
    log.append(step({ dropped: [{ channel: chat, seq: 300 }] }))
    await log.flush()
    expect((await log.dispatchedBy('bob', 0, 256)).every(({ channel }) => channel === other)).toBe(true)
  })
}
