import type { ChatState } from '@atrium/protocol/chat/state'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LazyChat, lazyChat, chatUri, stepOver, turn } from '../../../test/lazy-chat.ts'
import { rebuild } from './rebuild.ts'

const idsOf = (state: ChatState) => state.turns.map(({ id }) => id)

/**
 * Folds all actions. Expects that the result agrees with the rows in memory, with the ids of the other rows, and with the
 * stored form.
 */
async function expectConsistent(chat: LazyChat): Promise<void> {
  const { channel, log, head } = chat
  const whole = (state: unknown, older: number, eager: ChatState) => {
    const { turns } = state as ChatState
    return { ...(state as ChatState), turns: [...eager.turns.slice(0, older), ...turns] }
  }
  const committed = chat.at(log.committedSeq)
  expect(whole(channel.head, channel.olderRows, head)).toEqual(head)
  expect(whole(channel.committed, channel.committedOlder, committed)).toEqual(committed)
  expect(channel.rowIds.slice(0, Infinity)).toEqual(idsOf(head))
  expect(idsOf(head).every((id, i) => channel.has(id) && channel.rowIds.indexOf(id) === i)).toBe(true)
  const loaded = await chat.store.load(chatUri)
  if (!loaded || 'damaged' in loaded) throw new Error('not loaded')
  const last = loaded.envelopes.at(-1)?.seq ?? loaded.seq
  expect(rebuild(chatUri, loaded)).toMatchObject({ state: chat.at(last), older: [] })
}

const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constantFrom('turn', 'fail'), n: fc.nat(30) }) },
  {
    weight: 5,
    arbitrary: fc.record({ what: fc.constantFrom('truncate', 'load', 'loadFrom'), n: fc.nat(9) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constantFrom('start', 'resume', 'answer', 'flush', 'hold', 'nap', 'crash'),
      n: fc.nat(30),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('clear'), n: fc.constant(0) }) },
)

async function play(chat: LazyChat, what: string, n: number, words: string): Promise<void> {
  const { head, log } = chat
  const active = head.activeTurn?.id
  const fresh = `t${n}` !== active && !chat.channel.has(`t${n}`)
  const named = idsOf(head)[n % Math.max(1, head.turns.length)]
  if (what === 'turn' && active) return chat.append(turn(active, words).slice(1))
  if (what === 'turn' && fresh) return chat.append(turn(`t${n}`, words))
  if (what === 'fail' && fresh && !active) return chat.append(turn(`t${n}`, words, 'fail'))
  if (what === 'start' && fresh && !active) return chat.append(turn(`t${n}`, words).slice(0, 2))
  if (what === 'resume') return chat.append([resume(head.turns.at(-1)?.id)])
  if (what === 'clear') return chat.append([{ type: 'chat/truncated' }])
  if (what === 'truncate' && named !== undefined) {
    await chat.until(log.loadRows(chat.channel, named))
    return chat.append([truncated(named)])
  }
  if (what === 'load') void log.loadRows(chat.channel)
  if (what === 'loadFrom' && named !== undefined) void log.loadRows(chat.channel, named)
  if (what === 'answer') return chat.answer()
  if (what === 'flush') return chat.flush()
  if (what === 'hold') chat.holding = !chat.holding
  if (what === 'nap') return chat.sleepAndWake()
  if (what === 'crash') return chat.crash()
  return stepOver()
}

const resume = (turnId = 'none') => ({ type: 'chat/turnResume', turnId })
const truncated = (turnId: string) => ({ type: 'chat/truncated', turnId })

test('[L7] [L9] I3: a chat that loads its older turns at any moment always equals the fold of its actions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 2, max: 25 }),
      fc.array(operation, { minLength: 20, maxLength: 60, size: 'max' }),
      async (tail, headEvery, operations) => {
        const chat = await new LazyChat({ tail, headEvery }).begin()
        for (const [i, { what, n }] of operations.entries()) {
          await play(chat, what, n, `word ${i}`)
          await expectConsistent(chat)
        }
        await chat.until(chat.log.settled())
        await chat.until(chat.log.loadRows(chat.channel))
        await expectConsistent(chat)
        expect(chat.channel.head).toEqual(chat.head)
        expect(chat.channel.committed).toEqual(chat.head)
      },
    ),
    { numRuns: 100 },
  )
})

test('[L9] [L9.3] a chat wakes with its newest turns and the ids of all', async () => {
  const { channel } = await lazyChat()
  expect(idsOf(channel.head as ChatState)).toEqual(['t5', 't6'])
  expect(channel.olderRows).toBe(5)
  expect(['t0', 't4', 't6', 't7'].map((id) => channel.has(id))).toEqual([true, true, true, false])
})

test('[L9] after a crash the last turn of the head is loaded, because a later action may name it', async () => {
  const chat = await lazyChat()
  chat.append([truncated('t6'), ...turn('t7', 'a'), ...turn('t8', 'b'), ...turn('t9', 'c')])
  await chat.until(chat.log.settled())
  await chat.crash()
  expect(idsOf(chat.channel.head as ChatState)).toEqual(['t6', 't7', 't8', 't9'])
  await expectConsistent(chat)
})

test('[L9] [L9.3] loading turns extends every state of a chat in one step, without a number or a delivery', async () => {
  const chat = await lazyChat()
  const { channel, log } = chat
  const delivered: unknown[] = []
  channel.listeners.add({ deliver: (entry) => void delivered.push(entry), notify() {} })
  chat.holding = true
  chat.append([...turn('t7', 'x'), ...turn('t8', 'y')])
  await stepOver()
  const { committedSeq } = log
  await chat.until(log.loadRows(channel, 't3').then(() => (chat.holding = true)))
  expect([log.committedSeq >= committedSeq, channel.olderRows]).toEqual([true, 3])
  await expectConsistent(chat)
  const before = delivered.length
  const all = Promise.all([log.loadRows(channel), log.loadRows(channel, 't1'), log.loadRows(channel)])
  await chat.answer()
  await all
  expect([channel.olderRows, delivered.length]).toEqual([0, before])
  expect(idsOf(channel.committed as ChatState)).toEqual(idsOf(chat.at(log.committedSeq)))
  await chat.flush()
  await expectConsistent(chat)
})

test('[L7] I3: an action that needs a turn which is not in memory throws, instead of changing nothing', async () => {
  const chat = await lazyChat()
  expect(() => chat.append([truncated('t4')])).toThrow('not in memory')
  await expectConsistent(chat)
  chat.append([truncated('unknown'), truncated('t5')])
  await expectConsistent(chat)
})

test('[L9] concurrent loads share one read', async () => {
  const chat = await lazyChat()
  let reads = 0
  const { rows } = chat.store
  chat.store.rows = (...asked) => {
    reads++
    return rows(...asked)
  }
  await chat.until(Promise.all([1, 2, 3].map(() => chat.log.loadRows(chat.channel))))
  expect(reads).toBe(1)
})

test('[L9] a chat that is dropped, put to sleep or emptied during a read stays as it is', async () => {
  for (const how of ['drop', 'nap', 'clear'] as const) {
    const chat = await lazyChat()
    const { channel, log } = chat
    const loaded = log.loadRows(channel)
    if (how === 'drop') log.drop(channel)
    else if (how === 'nap') expect(log.sleep(channel)).toBe(true)
    else chat.append([{ type: 'chat/truncated' }])
    await chat.until(loaded)
    await chat.until(log.settled())
    if (how === 'drop') expect(await chat.store.load(chatUri)).toBeUndefined()
    else await chat.wake().then(() => expectConsistent(chat))
    expect(channel.olderRows).toBe(how === 'clear' ? 0 : 5)
  }
})

test('[L8] emptying a chat removes the turns that are not in memory, too', async () => {
  const chat = await lazyChat()
  chat.append([{ type: 'chat/truncated' }])
  await chat.until(chat.log.settled())
  expect(await chat.store.load(chatUri)).toMatchObject({ rowIds: [], rows: [] })
  expect(chat.channel.has('t0')).toBe(false)
  await chat.crash()
  expect(chat.channel.head).toMatchObject({ turns: [] })
})

test('[L8] F-05: a turn that the store lacks is folded from the creation; if that fails, the chat is reported as damaged', async () => {
  const chat = await lazyChat()
  const { rows, load } = chat.store
  chat.store.rows = (uri, ids) =>
    rows(
      uri,
      ids.filter((id) => id !== 't2'),
    )
  await chat.until(chat.log.loadRows(chat.channel))
  await expectConsistent(chat)
  expect(chat.channel.olderRows).toBe(0)
  await chat.sleepAndWake()
  chat.store.load = async () => ({ damaged: 'number 7 has a wrong checksum' })
  await expect(chat.until(chat.log.loadRows(chat.channel))).rejects.toThrow('number 7')
  chat.store.load = async () => undefined
  await expect(chat.until(chat.log.loadRows(chat.channel))).rejects.toThrow('rows are missing')
  Object.assign(chat.store, { load, rows })
  await chat.until(chat.log.loadRows(chat.channel))
  expect(chat.channel.olderRows).toBe(0)
})
