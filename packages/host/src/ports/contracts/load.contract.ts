import { expect, test } from 'vitest'
import { chat, creation, envelope, head, other, range, row, seqs, step } from './fixture.contract.ts'
import type { Opened } from './fixture.contract.ts'
import type { LoadedChannel, LogStore } from '../log.ts'

/** The suite for single channels of a store, from their creation to their removal. */
export function loadContract(name: string, open: () => Promise<Opened>): void {
  test(`[L8] ${name}: without a head a channel is loaded from its creation`, async () => {
    const { store, reopen } = await open()
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes: [envelope(2)], rows: [row('t1', 'one')] }),
    )
    await store.log.flush()
    const expected = { kind: 'chat', seq: 1, state: '{"n":1}', rowIds: [], rows: [], fromCreation: true }
    expect(await store.log.load(chat)).toEqual({ ...expected, envelopes: [envelope(2)] })
    const { log } = await reopen()
    expect(await log.load(chat)).toEqual({ ...expected, envelopes: [envelope(2)] })
  })

  test(`[L8] ${name}: with heads a load returns the newest head, the present rows, and the later actions`, async () => {
    const { store, reopen } = await open()
    store.log.append(step({ created: [creation(chat, 1)], envelopes: [envelope(2)], heads: [head(2)] }))
    store.log.append(
      step({ envelopes: [envelope(3), envelope(4)], heads: [head(3)], rows: [row('t1', 'one')] }),
    )
    await store.log.flush()
    store.log.append(step({ envelopes: [envelope(5)], rows: [row('t2', 'two')] }))
    await store.log.flush()
    const { log } = await reopen()
    expect(await log.load(chat)).toEqual({
      kind: 'chat',
      seq: 3,
      state: '{"n":3}',
      rowIds: ['t1', 't2'],
      rows: ['one', 'two'],
      fromCreation: false,
      envelopes: [envelope(4), envelope(5)],
    })
  })

  test(`[L8] ${name}: a head may be at the number of the creation, and above the last envelope`, async () => {
    const { store } = await open()
    store.log.append(step({ created: [creation(chat, 1)], heads: [head(1)] }))
    await store.log.flush()
    expect(await store.log.load(chat)).toMatchObject({ seq: 1, fromCreation: false, envelopes: [] })
    store.log.append(step({ envelopes: [envelope(2)] }))
    await store.log.flush()
    expect(await store.log.load(chat)).toMatchObject({ seq: 1, envelopes: [envelope(2)] })
    store.log.append(step({ heads: [head(9)] }))
    await store.log.flush()
    expect(await store.log.load(chat)).toMatchObject({ seq: 9, fromCreation: false, envelopes: [] })
  })

  test(`[L8] ${name}: rows are in the order of their first put; a row that is removed and put again is the last`, async () => {
    const { store, reopen } = await open()
    const first = ['a', 'b', 'c', 'd'].map((id) => row(id, `${id}1`))
    store.log.append(
      step({ created: [creation(chat, 1), creation(other, 1)], heads: [head(1)], rows: first }),
    )
    store.log.append(step({ rows: [{ ...row('a', 'elsewhere'), channel: other }] }))
    await store.log.flush()
    store.log.append(step({ rows: [row('b', 'b2'), row('a'), row('d'), row('unknown')] }))
    store.log.append(step({ rows: [row('d', 'd2'), row('a', 'a2'), row('e', 'e1'), row('e')] }))
    await store.log.flush()
    store.log.append(
      step({ rows: [row('x', 'x1'), row('y', 'y1'), row('x'), row('x', 'x2'), row('b', 'b3')] }),
    )
    await store.log.flush()
    const { log } = await reopen()
    expect(await loaded(log, chat)).toMatchObject({
      rowIds: ['b', 'c', 'd', 'a', 'y', 'x'],
      rows: ['b3', 'c1', 'd2', 'a2', 'y1', 'x2'],
    })
  })

  test(`[L9] ${name}: a load returns the ids of all rows and the texts of the requested number of newest rows`, async () => {
    const { store, reopen } = await open()
    const ids = ['z', 'ü:1', 'a', "d'--"]
    const rows = ids.map((id) => row(id, `text of ${id}`))
    store.log.append(
      step({ created: [creation(chat, 1), creation(other, 1)], heads: [head(1), head(1, other)], rows }),
    )
    store.log.append(step({ rows: [{ ...row('b', 'elsewhere'), channel: other }] }))
    await store.log.flush()
    const { log } = await reopen()
    for (const tail of [0, 1, 3, 4, 5, Infinity]) {
      const found = await loaded(log, chat, tail)
      expect(found.rowIds).toEqual(ids)
      expect(found.rows).toEqual(ids.slice(Math.max(0, 4 - tail)).map((id) => `text of ${id}`))
    }
    expect(await loaded(log, other, 1)).toMatchObject({ rowIds: ['b'], rows: ['elsewhere'] })
  })

  test(`[L9] ${name}: rows are read by their ids in the requested order, without the missing ones`, async () => {
    const { store, reopen } = await open()
    const rows = ['a', 'b', 'c'].map((id) => row(id, `text of ${id}`))
    store.log.append(step({ created: [creation(chat, 1), creation(other, 1)], heads: [head(1)], rows }))
    store.log.append(step({ rows: [{ ...row('b', 'elsewhere'), channel: other }] }))
    await store.log.flush()
    store.log.append(step({ rows: [row('c')] }))
    await store.log.flush()
    store.log.append(step({ rows: [row('d', 'only queued')] }))
    const { log } = await reopen()
    const texts = [
      { id: 'b', text: 'text of b' },
      { id: 'a', text: 'text of a' },
    ]
    expect(await log.rows(chat, ['c', 'b', 'unknown', 'a', 'd'])).toEqual({ rows: texts, more: false })
    expect(await log.rows(other, ['a', 'b'])).toEqual({ rows: [{ id: 'b', text: 'elsewhere' }], more: false })
    expect(await log.rows(chat, [])).toEqual({ rows: [], more: false })
    expect(await log.rows('ahp-chat:/unknown', ['a'])).toEqual({ rows: [], more: false })
  })

  test(`[L8] ${name}: rows are read in slices of at most one MiB, and "more" tells whether there is another`, async () => {
    const { store } = await open()
    const sizes = [300_000, 300_000, 300_000, 300_000, 3_000_000, 1]
    const rows = sizes.map((size, i) => row(`t${i}`, `${i}`.repeat(size)))
    store.log.append(step({ created: [creation(chat, 1)], rows }))
    await store.log.flush()
    const slices: string[][] = []
    for (let ids = range(0, 6).map((i) => `t${i}`), more = true; more;) {
      const slice = await store.log.rows(chat, ids)
      slices.push(slice.rows.map(({ id }) => id))
      for (const { id, text } of slice.rows)
        expect(text === rows.find((one) => one.id === id)?.text).toBe(true)
      ids = ids.slice(slice.rows.length)
      more = slice.more
    }
    expect(slices).toEqual([['t0', 't1', 't2'], ['t3'], ['t4'], ['t5']])
  })

  test(`[L8] ${name}: a dropped channel is gone, others stay, and upTo does not fall`, async () => {
    const { store, reopen } = await open()
    store.log.append(
      step({
        created: [creation(chat, 1), creation(other, 1)],
        envelopes: [envelope(2), envelope(3, other)],
        rows: [row('t1', 'one')],
        heads: [head(2)],
        upTo: 50,
      }),
    )
    await store.log.flush()
    store.log.append(step({ envelopes: [envelope(4)], dropped: [{ channel: chat, seq: 5 }], upTo: 60 }))
    await store.log.flush()
    for (const next of [async () => store, reopen]) {
      const { log } = await next()
      expect(await log.load(chat)).toBeUndefined()
      expect(seqs(await log.read([chat, other], 0, 100))).toEqual([3])
      expect((await loaded(log, other)).envelopes).toHaveLength(1)
      if (next === reopen) expect(log.upTo).toBe(60)
    }
  })

  test(`[L8] ${name}: a channel created with the URI of a dropped one begins empty`, async () => {
    const { store } = await open()
    store.log.append(
      step({ created: [creation(chat, 1)], envelopes: [envelope(2)], rows: [row('t1', 'one')] }),
    )
    store.log.append(step({ heads: [head(2)], dropped: [{ channel: chat, seq: 3 }] }))
    store.log.append(step({ created: [creation(chat, 4)], envelopes: [envelope(5)], heads: [head(4)] }))
    await store.log.flush()
    expect(await store.log.load(chat)).toMatchObject({ seq: 4, rows: [], envelopes: [envelope(5)] })
  })

  test(`[L8] ${name}: states, rows and actions of 5 MB are stored`, async () => {
    const { store, reopen } = await open()
    const large = JSON.stringify('ü'.repeat(2_500_000))
    store.log.append(
      step({
        created: [{ ...creation(chat, 1), state: large }, creation(other, 1)],
        envelopes: [{ ...envelope(2), action: large }],
        rows: [{ ...row('t1', large), channel: other }],
        heads: [{ channel: other, seq: 1, state: large }],
      }),
    )
    await store.log.flush()
    const { log } = await reopen()
    const [ofChat, ofOther] = [await loaded(log, chat), await loaded(log, other)]
    expect(ofChat.state === large && ofChat.envelopes[0]?.action === large).toBe(true)
    expect(ofOther.state === large && ofOther.rows[0] === large).toBe(true)
  })
}

async function loaded(log: LogStore, channel: string, tail = Infinity): Promise<LoadedChannel> {
  const found = await log.load(channel, tail)
  if (!found || 'damaged' in found) throw new Error(found?.damaged ?? `${channel} is not there`)
  return found
}
