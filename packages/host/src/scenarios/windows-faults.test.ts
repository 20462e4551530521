import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { reconnectClient, untilIdle } from '../../test/held-flushes.ts'
import type { Client, TestHostOptions } from '../../test/test-host.ts'
import { chat, chatOf, message, session, oneClientSession, turn } from '../../test/one-client-session.ts'
import { TurnFailed } from '../ports/agent.ts'

const turnsOf = (client: Client) => chatOf(client).turns.map(({ id }) => id)

test('[L13] [L13.4] a client with the newest turns is not left with them by a replay of a truncation before them', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  for (let i = 0; i < 6; i++) await turn(ann, `t${i}`)
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat, view: { turns: 2 } })
  ann.dispatch(chat, { type: 'chat/draftChanged', draft: message('Hm') })
  await ben.until(() => chatOf(ben).draft !== undefined)
  ben.peer.close()
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't1' }))
  const { link, result } = await reconnectClient(all, ben, ben.lastSeen, [chat])
  expect(result.type).toBe('snapshot')
  expect(turnsOf(link)).toEqual(['t0', 't1'])
})

test('[L9] a client with a view of no turns can follow one that is resumed', async () => {
  let runs = 0
  const { all, ann } = await oneClientSession({
    ...readyAgent(),
    resumes: true,
    async *run() {
      if (runs++ === 0) throw new TurnFailed('busy', 'Try again.', true)
      yield* []
    },
  })
  await turn(ann, 't')
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat, view: { turns: 0 } })
  ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't' })
  await ben.until(() => ben.envelopes.some(({ action }) => action.type === 'chat/turnComplete'))
  expect(chatOf(ben).turns).toMatchObject([{ id: 't', state: 'complete' }])
})

test('[L9] a client with the newest turns has all turns that follow a removal of all', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  for (let i = 0; i < 4; i++) await turn(ann, `t${i}`)
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat, view: { turns: 1 } })
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated' }))
  for (let i = 4; i < 7; i++) await turn(ann, `t${i}`)
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't5' }))
  await untilIdle()
  expect(turnsOf(ben)).toEqual(['t4', 't5'])
  expect(chatOf(ben).turnsNextCursor).toBeUndefined()
})

/** A sleeping chat of 60 turns: when it wakes, the newest 50 are loaded. */
async function long(options: TestHostOptions = {}) {
  const { all, ann } = await oneClientSession(readyAgent(), options)
  for (let i = 0; i < 60; i++) await turn(ann, `t${i}`)
  for (const channel of [session, chat]) ann.peer.notify('unsubscribe', { channel })
  await untilIdle()
  for (let i = 0; i < 3; i++) {
    all.world.advance(60_000)
    await untilIdle()
  }
  return { all, ann, log: all.store().log }
}

/** Like `long`, but the older turns cannot be read from the disk any more. */
async function torn() {
  const made = await long()
  const { log } = made
  const { load } = log
  log.rows = async () => ({ rows: [], more: false })
  log.load = async (uri, tail) =>
    uri === chat && tail === undefined ? { damaged: 'number 7 has a wrong checksum' } : load(uri, tail)
  return made
}

test('[I13] a client of a chat whose older turns are damaged can connect, and sees the others', async () => {
  const { all, ann } = await torn()
  const ben = await all.join('ben', { subscribe: [session, chat] })
  expect(turnsOf(ben)).toHaveLength(50)
  expect(chatOf(ben).turnsNextCursor).toBeDefined()
  const { link } = await reconnectClient(all, ann, 0, [session, chat])
  expect(turnsOf(link)).toHaveLength(50)
})

test('[I5] a truncation at a damaged turn is refused', async () => {
  const { all } = await torn()
  const ben = await all.join('ben')
  const { rejectionReason } = await ben.echo(ben.dispatch(chat, { type: 'chat/truncated', turnId: 't1' }))
  expect(rejectionReason).toMatch(/damaged/)
})

test('[I5] a truncation is applied also if its chat falls asleep while its turns are read', async () => {
  const { all, log } = await long()
  const { rows } = log
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  log.rows = async (...asked) => {
    await gate
    return rows(...asked)
  }
  const ben = await all.join('ben')
  const seq = ben.dispatch(chat, { type: 'chat/truncated', turnId: 't1' })
  await untilIdle()
  all.world.advance(60_000)
  await untilIdle()
  go()
  expect(await ben.echo(seq)).not.toHaveProperty('rejectionReason')
  await ben.ask('subscribe', { channel: chat })
  expect(turnsOf(ben)).toEqual(['t0', 't1'])
})

/** Like `long`. While all turns of the chat are being removed, a client subscribes to the whole chat. */
async function emptying(full: boolean) {
  const flushes: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void flushes.push(task) : queueMicrotask(task))
  const { all, ann } = await long({ soon, full: () => holding && full })
  const ben = await all.join('ben')
  await ann.ask('subscribe', { channel: chat, view: { turns: 1 } })
  holding = true
  ann.dispatch(chat, { type: 'chat/truncated' })
  await untilIdle()
  const asked = ben.ask('subscribe', { channel: chat })
  await untilIdle()
  for (const task of flushes.splice(0)) task()
  const { snapshot } = await asked
  return { snapshot: snapshot?.state as Partial<ChatState>, ben, all }
}

test('[L9] [L9.9] I3: a client that subscribes to a chat while its turns are removed sees it empty', async () => {
  const { snapshot } = await emptying(false)
  expect(snapshot).toMatchObject({ turns: [] })
  expect(snapshot).not.toHaveProperty('turnsNextCursor')
})

test('[L9] [L9.9] F-07: on a full disk nothing waits for that, and the client sees the committed turns', async () => {
  const { snapshot } = await emptying(true)
  expect(snapshot.turns).toHaveLength(50)
  expect(snapshot).toHaveProperty('turnsNextCursor')
})
