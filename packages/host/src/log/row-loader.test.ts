import type { ChatState } from '@atrium/protocol/chat/state'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LazyChat, asleep, chatUri, stepOver, turn } from '../../test/lazy-chat.ts'
import { rebuild } from './rebuild.ts'

const idsOf = (state: ChatState) => state.turns.map(({ id }) => id)

/** What is in memory, what is only known by its id, and what is stored, are the state that the fold gives. */
async function judge(chat: LazyChat): Promise<void> {
  const { channel, log, head } = chat
  const whole = (state: unknown, older: number, eager: ChatState) => {
    const { turns } = state as ChatState
    return { ...(state as ChatState), turns: [...eager.turns.slice(0, older), ...turns] }
  }
  const told = chat.at(log.committedSeq)
  expect(whole(channel.head, channel.olderRows, head)).toEqual(head)
  expect(whole(channel.committed, channel.committedOlder, told)).toEqual(told)
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
    arbitrary: fc.record({ what: fc.constantFrom('truncate', 'complete', 'completeFrom'), n: fc.nat(9) }),
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
  if (what === 'complete') void log.loadRows(chat.channel)
  if (what === 'completeFrom' && named !== undefined) void log.loadRows(chat.channel, named)
  if (what === 'answer') return chat.answer()
  if (what === 'flush') return chat.flush()
  if (what === 'hold') chat.holding = !chat.holding
  if (what === 'nap') return chat.nap()
  if (what === 'crash') return chat.crash()
  return stepOver()
}

const resume = (turnId = 'none') => ({ type: 'chat/turnResume', turnId })
const truncated = (turnId: string) => ({ type: 'chat/truncated', turnId })

test('[L7] [L9] I3: a chat that was woken with some of its turns, and given the others at any moment, is what the fold says', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 2, max: 25 }),
      fc.array(operation, { minLength: 20, maxLength: 60, size: 'max' }),
      async (tail, headEvery, operations) => {
        const chat = await new LazyChat({ tail, headEvery }).begin()
        for (const [i, { what, n }] of operations.entries()) {
          await play(chat, what, n, `word ${i}`)
          await judge(chat)
        }
        await chat.until(chat.log.settled())
        await chat.until(chat.log.loadRows(chat.channel))
        await judge(chat)
        expect(chat.channel.head).toEqual(chat.head)
        expect(chat.channel.committed).toEqual(chat.head)
      },
    ),
    { numRuns: 100 },
  )
})

test('[L9] a chat wakes with the newest of its turns, and knows the ids of all', async () => {
  const { channel } = await asleep()
  expect(idsOf(channel.head as ChatState)).toEqual(['t5', 't6'])
  expect(channel.olderRows).toBe(5)
  expect(['t0', 't4', 't6', 't7'].map((id) => channel.has(id))).toEqual([true, true, true, false])
})

test('[L9] after a crash, too, the last turn that the head had is there: what came after may name it', async () => {
  const chat = await asleep()
  chat.append([truncated('t6'), ...turn('t7', 'a'), ...turn('t8', 'b'), ...turn('t9', 'c')])
  await chat.until(chat.log.settled())
  await chat.crash()
  expect(idsOf(chat.channel.head as ChatState)).toEqual(['t6', 't7', 't8', 't9'])
  await judge(chat)
})

test('[L9] turns come into every state of a chat in one step, and nothing is numbered or told by it', async () => {
  const chat = await asleep()
  const { channel, log } = chat
  const heard: unknown[] = []
  channel.listeners.add({ deliver: (entry) => void heard.push(entry), notify() {} })
  chat.holding = true
  chat.append([...turn('t7', 'x'), ...turn('t8', 'y')])
  await stepOver()
  const { committedSeq } = log
  await chat.until(log.loadRows(channel, 't3').then(() => (chat.holding = true)))
  expect([log.committedSeq >= committedSeq, channel.olderRows]).toEqual([true, 3])
  await judge(chat)
  const before = heard.length
  const all = Promise.all([log.loadRows(channel), log.loadRows(channel, 't1'), log.loadRows(channel)])
  await chat.answer()
  await all
  expect([channel.olderRows, heard.length]).toEqual([0, before])
  expect(idsOf(channel.committed as ChatState)).toEqual(idsOf(chat.at(log.committedSeq)))
  await chat.flush()
  await judge(chat)
})

test('[L7] I3: an action that needs a turn which is not in memory is not taken for one that changes nothing', async () => {
  const chat = await asleep()
  expect(() => chat.append([truncated('t4')])).toThrow('not in memory')
  await judge(chat)
  chat.append([truncated('unknown'), truncated('t5')])
  await judge(chat)
})

test('[L9] those who ask at once share one reading', async () => {
  const chat = await asleep()
  let reads = 0
  const { rows } = chat.store
  chat.store.rows = (...asked) => {
    reads++
    return rows(...asked)
  }
  await chat.until(Promise.all([1, 2, 3].map(() => chat.log.loadRows(chat.channel))))
  expect(reads).toBe(1)
})

test('[L9] a chat that is dropped, asleep or emptied while its turns are read is left alone', async () => {
  for (const how of ['drop', 'nap', 'clear'] as const) {
    const chat = await asleep()
    const { channel, log } = chat
    const completed = log.loadRows(channel)
    if (how === 'drop') log.drop(channel)
    else if (how === 'nap') expect(log.sleep(channel)).toBe(true)
    else chat.append([{ type: 'chat/truncated' }])
    await chat.until(completed)
    await chat.until(log.settled())
    if (how === 'drop') expect(await chat.store.load(chatUri)).toBeUndefined()
    else await chat.wake().then(() => judge(chat))
    expect(channel.olderRows).toBe(how === 'clear' ? 0 : 5)
  }
})

test('[L8] to empty a chat takes away the turns that are not in memory, too', async () => {
  const chat = await asleep()
  chat.append([{ type: 'chat/truncated' }])
  await chat.until(chat.log.settled())
  expect(await chat.store.load(chatUri)).toMatchObject({ rowIds: [], rows: [] })
  expect(chat.channel.has('t0')).toBe(false)
  await chat.crash()
  expect(chat.channel.head).toMatchObject({ turns: [] })
})

test('[L8] F-05: a turn that the store does not give is folded from the birth; what cannot be is said to be damaged', async () => {
  const chat = await asleep()
  const { rows, load } = chat.store
  chat.store.rows = (uri, ids) =>
    rows(
      uri,
      ids.filter((id) => id !== 't2'),
    )
  await chat.until(chat.log.loadRows(chat.channel))
  await judge(chat)
  expect(chat.channel.olderRows).toBe(0)
  await chat.nap()
  chat.store.load = async () => ({ damaged: 'number 7 has a wrong checksum' })
  await expect(chat.until(chat.log.loadRows(chat.channel))).rejects.toThrow('number 7')
  chat.store.load = async () => undefined
  await expect(chat.until(chat.log.loadRows(chat.channel))).rejects.toThrow('rows are missing')
  Object.assign(chat.store, { load, rows })
  await chat.until(chat.log.loadRows(chat.channel))
  expect(chat.channel.olderRows).toBe(0)
})
