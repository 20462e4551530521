import type { ChatState } from '@atrium/protocol/chat/state'
import { rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { patientAgent, readyAgent } from '../../../test/agents.ts'
import { days, untilIdle } from '../../../test/held-flushes.ts'
import { askEnvelopes, askState, folded, pages } from '../../../test/history/past.ts'
import { chat, chatOf, message, oneClientSession, started, turn } from '../../../test/one-client-session.ts'
import { fork, severalChats, turnsIn } from '../../../test/several-chats.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'

/** Dispatches an action and returns its number. */
async function sent(ann: Client, action: Parameters<Client['dispatch']>[1], channel = chat): Promise<number> {
  const { serverSeq, rejectionReason } = await ann.echo(ann.dispatch(channel, action))
  expect(rejectionReason).toBeUndefined()
  return serverSeq
}

const cut = (turnId?: string) => ({ type: 'chat/truncated', ...(turnId !== undefined && { turnId }) })
const queued = (id: string, text: string) => ({
  type: 'chat/pendingMessageSet',
  kind: 'queued',
  id,
  message: message(text),
})

/** The ids of the turns in a past state, the active one included; undefined if there is no state to show. */
async function turnsAt(ann: Client, seq: number, channel = chat): Promise<readonly string[] | undefined> {
  const { snapshot } = await askState(ann, seq, { channel, turns: 100 })
  if (!snapshot) return undefined
  // Only chats are asked for.
  const { turns, activeTurn } = snapshot.state as ChatState
  return [...turns, ...(activeTurn ? [activeTurn] : [])].map(({ id }) => id)
}

describe('[L24] what a truncation has taken away', () => {
  test('[L24.2] [L24.5] is in no state and in no envelope, and the answers say so', async () => {
    const { ann } = await oneClientSession(readyAgent())
    await turn(ann, 't1', 'first')
    const { ends: kept } = await askEnvelopes(ann)
    await turn(ann, 't2', 'secret')
    const inside = ann.lastSeen - 2
    expect(await turnsAt(ann, inside)).toEqual(['t1', 't2'])
    const at = await sent(ann, cut('t1'))
    await turn(ann, 't3', 'third')
    const { ends } = await askEnvelopes(ann)
    const hidden = await askState(ann, inside)
    expect(hidden).toMatchObject({ hidden: 'truncated', gap: { after: kept, before: at } })
    expect(hidden).not.toHaveProperty('snapshot')
    expect(await turnsAt(ann, kept)).toEqual(['t1'])
    expect(await turnsAt(ann, at)).toEqual(['t1'])
    expect(await turnsAt(ann, ends)).toEqual(['t1', 't3'])
    const all = await pages(ann, { limit: 3 })
    expect(all.gaps).toEqual([{ after: kept, before: at }])
    expect(all.envelopes.some(({ serverSeq }) => serverSeq > kept && serverSeq < at)).toBe(false)
    expect(all.envelopes.find(({ serverSeq }) => serverSeq === at)).toMatchObject({ action: cut('t1') })
    expect(JSON.stringify(all)).not.toContain('secret')
    expect(all.total).toBe(all.envelopes.length)
  })

  test('[L24.4] is not shown as a pending message of an earlier state', async () => {
    const agent = patientAgent()
    const { ann } = await oneClientSession(agent)
    ann.dispatch(chat, started('t1'))
    await ann.until(() => chatOf(ann).activeTurn !== undefined)
    const at = await sent(ann, queued('q1', 'secret'))
    expect(JSON.stringify(await askState(ann, at))).toContain('secret')
    agent.finish('t1')
    await ann.until(() => chatOf(ann).activeTurn?.message.text === 'secret')
    const second = chatOf(ann).activeTurn?.id ?? ''
    agent.finish(second)
    await ann.until(() => chatOf(ann).turns.length === 2)
    await sent(ann, cut('t1'))
    expect(JSON.stringify([await askState(ann, at), await pages(ann)])).not.toContain('secret')
    const { snapshot } = await askState(ann, at)
    expect(snapshot?.state).toMatchObject({ queuedMessages: [{ id: 'q1', message: { text: '' } }] })
    expect(await turnsAt(ann, at)).toEqual(['t1'])
  })

  test('can be everything', async () => {
    const { ann } = await oneClientSession(readyAgent())
    const { begins } = await askEnvelopes(ann)
    await turn(ann, 't1', 'secret')
    const at = await sent(ann, cut())
    expect(await pages(ann)).toMatchObject({ total: 1, begins, gaps: [{ after: begins, before: at }] })
    expect(await turnsAt(ann, begins)).toEqual([])
    expect(await turnsAt(ann, at - 1)).toBeUndefined()
    expect(await turnsAt(ann, at)).toEqual([])
  })

  test('includes truncations of what is left', async () => {
    const { ann } = await oneClientSession(readyAgent())
    for (const id of ['t1', 't2', 't3']) await turn(ann, id)
    await sent(ann, cut('t2'))
    await turn(ann, 't4')
    await sent(ann, cut('t1'))
    const all = await pages(ann)
    expect(all.gaps).toHaveLength(1)
    expect(JSON.stringify(all.envelopes)).not.toMatch(/"t[234]"/)
    expect(await folded(ann, all, all.envelopes, all.gaps)).toMatchObject({ turns: [{ id: 't1' }] })
  })

  test('[L24.3] may reach into the copied turns of a fork, which then begins with the truncation', async () => {
    const { ann } = await oneClientSession(severalChats())
    await turnsIn(ann, chat, ['t1', 't2', 't3'])
    const copy = 'ahp-chat:/copy'
    await fork(ann, copy, 't2')
    await ann.ask('subscribe', { channel: copy })
    const { begins } = await askEnvelopes(ann, { channel: copy })
    const at = await sent(ann, cut('t1'), copy)
    expect(await askState(ann, begins, { channel: copy })).toMatchObject({ hidden: 'truncated' })
    expect(await askEnvelopes(ann, { channel: copy })).toMatchObject({
      begins: at,
      truncatedTo: at,
      total: 0,
    })
    expect(await turnsAt(ann, at, copy)).toEqual(['t1'])
    // The source of the fork keeps its turns.
    expect(await turnsAt(ann, at)).toEqual(['t1', 't2', 't3'])
  })
})

const keep = (count: number) => ({ type: 'root/configChanged', config: { 'atrium.retention': count } })

/** Forgets what is older than a day. */
async function forgetAll(all: TestHost, ann: Client): Promise<void> {
  ann.dispatch(rootUri, keep(1))
  await untilIdle()
  await days(all, 3)
}

describe('[L24] [L24.1] what retention has forgotten', () => {
  test('is not shown, also if it was read before, and the answers say so', async () => {
    const { all, ann } = await oneClientSession(readyAgent())
    await turn(ann, 't1', 'old words')
    const { ends: early } = await askEnvelopes(ann)
    expect(await turnsAt(ann, early - 1)).toEqual(['t1'])
    await forgetAll(all, ann)
    await turn(ann, 't2')
    const { begins, forgottenTo, envelopes } = await askEnvelopes(ann)
    expect(forgottenTo).toBe(begins)
    expect(begins).toBeGreaterThanOrEqual(early)
    expect(JSON.stringify(envelopes)).not.toContain('old words')
    expect(await askState(ann, early - 1)).toMatchObject({ hidden: 'forgotten', forgottenTo })
    expect(await turnsAt(ann, begins)).toEqual(['t1'])
    await all.restart()
    expect(await askEnvelopes(await all.join('ben'))).toMatchObject({ begins, forgottenTo, envelopes })
  })

  test('and a truncation behind it leave nothing before the truncation', async () => {
    const { all, ann } = await oneClientSession(readyAgent())
    await turn(ann, 't1')
    await turn(ann, 't2', 'secret')
    await forgetAll(all, ann)
    const { begins } = await askEnvelopes(ann)
    const at = await sent(ann, cut('t1'))
    expect(await askEnvelopes(ann)).toMatchObject({ begins: at, truncatedTo: at, forgottenTo: begins })
    expect(await askState(ann, begins)).toMatchObject({ hidden: 'truncated' })
    expect(await turnsAt(ann, at)).toEqual(['t1'])
  })

  test('may be forgotten while a call reads', async () => {
    const { all, ann } = await oneClientSession(readyAgent())
    await turn(ann, 't1')
    const { log } = all.store()
    const { read } = log
    let reads = 0
    log.read = async (...given) => {
      if (++reads === 2) await forgetAll(all, ann)
      return read(...given)
    }
    const answer = await askEnvelopes(ann)
    expect(reads).toBeGreaterThan(3)
    expect(answer).toMatchObject({ forgottenTo: answer.begins, total: 0 })
  })
})
