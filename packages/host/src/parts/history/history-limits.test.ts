import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { patientAgent } from '../../../test/agents.ts'
import { askEnvelopes, askState } from '../../../test/history/past.ts'
import { chat, chatOf, oneClientSession, started } from '../../../test/one-client-session.ts'
import type { Client } from '../../../test/test-host.ts'
import { CallCount } from './call-count.ts'
import { forgetOldest } from './history.ts'
import { boundLength } from './reading.ts'
import { SavedStates } from './saved-states.ts'

/** A chat with an active turn, and a function that appends text to it. */
async function growing() {
  const { all, ann } = await oneClientSession(patientAgent())
  ann.dispatch(chat, started('t1'))
  await ann.until(() => JSON.stringify(chatOf(ann).activeTurn ?? '').includes('Hello '))
  const { log } = all.core()
  const delta = (content: string) => ({ type: 'chat/delta', turnId: 't1', partId: 't1#0', content }) as const
  const grow = async (content: string) => {
    const channel = log.channel(chat, 'chat')
    if (channel) log.append(channel, delta(content))
    await log.settled()
  }
  const stored = async () => (await all.store().log.read([chat], 0, log.last)).envelopes
  const length = async () => (await stored()).reduce((sum, { action }) => sum + action.length, 0)
  return { all, ann, grow, length, frame: JSON.stringify(delta('')).length }
}

describe('the log that a call reads', () => {
  const unfinished = async (target: number) => {
    const { ann, grow, length, frame } = await growing()
    await grow('x'.repeat(target - (await length()) - frame))
    // Something is left to read.
    await grow('y')
    const first = await askEnvelopes(ann, { limit: 1 })
    return { ann, first }
  }

  test('[S-57 historyWork] at 16,777,216 characters a call answers', async () => {
    const { first } = await unfinished(16_777_216)
    expect(first).toMatchObject({ more: true })
  })

  test('[L22.4] [S-57 historyWork] past 16,777,216 it is unfinished, and the next call goes on', async () => {
    const { ann, first } = await unfinished(16_777_217)
    expect(first).toEqual({
      channel: chat,
      unfinished: { reached: expect.any(Number), upTo: expect.any(Number) },
    })
    expect(await askEnvelopes(ann, { limit: 1 })).toMatchObject({ more: true })
    const { ends } = await askEnvelopes(ann, { limit: 1 })
    expect(await askState(ann, ends - 1)).toHaveProperty('snapshot')
  })
})

test('[L22] [L22.3] [L22.4] a state that is far from those in memory is reached by several calls', async () => {
  const { all, ann, grow } = await growing()
  for (let i = 0; i < 40; i++) await grow('x'.repeat(1024 * 1024))
  const calls = async (ask: (client: Client) => Promise<{ readonly unfinished?: unknown }>) => {
    for (let count = 1; ; count++) if ((await ask(ann)).unfinished === undefined) return count
  }
  expect(await calls((client) => askEnvelopes(client, { limit: 1 }))).toBe(3)
  expect(await calls((client) => askState(client, all.core().log.last - 1))).toBe(3)
  expect(await calls((client) => askState(client, all.core().log.last))).toBe(1)
})

describe('calls at the same time', () => {
  /** Makes some calls of one link or of several. Returns how many are refused. */
  const refused = async (count: number, ofLink: boolean) => {
    const counted = new CallCount(limits)
    const link = { deliver: () => {}, notify: () => {} }
    let end = () => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const calls = Array.from({ length: count }, () =>
      counted
        .counted('x', ofLink ? link : { ...link }, () => ended)
        .then(
          () => 0,
          () => 1,
        ),
    )
    end()
    const results: number[] = await Promise.all(calls)
    // When all have ended, there is room again.
    await counted.counted('x', link, () => ended)
    return results.reduce((sum, each) => sum + each, 0)
  }

  test('[S-57 historyCalls] at 4 of a link all run', async () => expect(await refused(4, true)).toBe(0))
  test('[S-57 historyCalls] past 4 one is refused', async () => expect(await refused(5, true)).toBe(1))
  test('[S-57 historyCallsOfAll] at 32 all run', async () => expect(await refused(32, false)).toBe(0))
  test('[S-57 historyCallsOfAll] past 32 one is refused', async () =>
    expect(await refused(33, false)).toBe(1))

  test('[L22] [L22.8] a refusal has a reason, and the other calls are answered', async () => {
    const { ann } = await growing()
    const seq = ann.lastSeen
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => askState(ann, seq)))
    expect(answers.map(({ status }) => status)).toEqual([...Array(4).fill('fulfilled'), 'rejected'])
    expect(answers[4]).toMatchObject({
      reason: { code: -32009, message: expect.stringContaining('4 such calls') },
    })
  })
})

describe('states in memory', () => {
  const bound = (length: number) => {
    const text = 'x'.repeat(length - '{"id":""}'.length)
    const last = { seq: 9, position: 1, state: { turns: [{ id: text }] } }
    const states = new SavedStates({ seq: 1, position: 0, state: {} }, limits.pastLength + 1)
    states.insert({ seq: 5, position: 0, state: {} })
    boundLength({ limits }, { kind: { rows: 'turns' }, states, last })
    return states.count
  }

  test('[S-57 pastLength] at 67,108,864 characters the newest state is shown, and others are dropped', () =>
    expect(bound(67_108_864)).toBe(1))
  test('[L22.5] [S-57 pastLength] past 67,108,864 a state is refused', () =>
    expect(() => bound(67_108_865)).toThrow('more than 67108864 characters cannot be shown'))

  const kept = (...lengths: readonly number[]) => {
    const histories = new Map(lengths.map((length, at) => [String(at), { states: { length } }]))
    forgetOldest(histories, limits.pastLengthOfAll)
    return [...histories.keys()]
  }

  test('[S-57 pastLengthOfAll] at 134,217,728 characters all are kept', () =>
    expect(kept(100_000_000, 34_217_728)).toEqual(['0', '1']))
  test('[S-57 pastLengthOfAll] past 134,217,728 the oldest is dropped, and never the newest', () => {
    expect(kept(100_000_000, 34_217_729)).toEqual(['1'])
    expect(kept(1, 134_217_729)).toEqual(['1'])
  })

  test('[L22] [L22.5] they stay spread over the whole history', () => {
    const states = new SavedStates({ seq: 0, position: 0, state: {} }, 0)
    for (let seq = 1; seq <= 1_000_000; seq++) states.offer({ seq, position: seq, state: {} })
    expect(states.count).toBeLessThanOrEqual(64)
    for (let seq = 0; seq < 1_000_000; seq += 9999)
      expect(seq - (states.before(seq)?.seq ?? -Infinity)).toBeLessThan(1_000_000 / 16)
  })
})

describe('a page of envelopes', () => {
  test('[S-57 envelopesPage] at 500 envelopes it is as long as was asked', async () => {
    const { ann, grow } = await growing()
    for (let i = 0; i < 600; i++) await grow('x')
    expect((await askEnvelopes(ann, { limit: 500 })).envelopes).toHaveLength(500)
    expect((await askEnvelopes(ann, { limit: 501, position: 2 })).envelopes).toHaveLength(500)
    expect((await askEnvelopes(ann, { position: 599 })).position).toBe(599)
  })

  test('[L23.1] [S-57 envelopesPage] past 500 envelopes it ends', async () => {
    const { ann, grow } = await growing()
    for (let i = 0; i < 600; i++) await grow('x')
    expect(await askEnvelopes(ann, { limit: 501 })).toMatchObject({ more: true, envelopes: { length: 500 } })
  })

  const newestTwo = async (length: number) => {
    const { ann, grow, frame } = await growing()
    const { total } = await askEnvelopes(ann)
    await grow('x'.repeat(500_000 - frame))
    await grow('x'.repeat(length - 500_000 - frame))
    return (await askEnvelopes(ann, { position: total + 1 })).envelopes.length
  }

  test('[S-57 envelopesLength] at 1,048,576 characters it is complete', async () =>
    expect(await newestTwo(1_048_576)).toBe(2))
  test('[S-57 envelopesLength] past 1,048,576 it ends', async () =>
    expect(await newestTwo(1_048_577)).toBe(1))

  test('[L23] [L23.3] an action that is too long for a message comes without its content', async () => {
    const { ann, grow } = await growing()
    await grow('x'.repeat(limits.replayLength))
    const { ends, total } = await askEnvelopes(ann, { limit: 1 })
    const { envelopes } = await askEnvelopes(ann, { position: total })
    const _meta = { 'x-atrium': { omitted: expect.any(Number) } }
    expect(envelopes).toEqual([{ channel: chat, serverSeq: ends, action: { type: 'chat/delta', _meta } }])
  })
})
