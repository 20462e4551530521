import { expect, test } from 'vitest'
import { untilIdle } from '../../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import { asks } from '../../../../test/tool-call-actions.ts'
import { says } from '../../../../test/two-client-session.ts'
import {
  begins,
  does,
  ends,
  listTold,
  listed,
  olderSession,
  summaryOf,
  told,
} from '../../../../test/versions/older-session.ts'
import type { OlderSession } from '../../../../test/versions/older-session.ts'
import type { Run } from '../../../../test/scripted-agent.ts'
import type { AgentAction } from '../../../ports/agent.ts'

const version = '0.4.0'
const other = 'ahp-chat:/two'
const third = 'ahp-chat:/three'
const activity = (text: string): AgentAction => ({ type: 'chat/activityChanged', activity: text })

async function chats(...more: readonly string[]): Promise<OlderSession> {
  const agent = new ScriptedAgent({ capabilities: { multipleWorkingDirectories: {} } })
  const all = await olderSession(version, { agent, params: { workingDirectory: 'file:///w' } })
  for (const chat of more) {
    await all.ann.ask('createChat', { chat }, all.session)
    for (const client of [all.ann, all.ben]) await client.subscribe(chat)
  }
  return all
}

async function begun(all: OlderSession, chat: string, turnId: string): Promise<Run> {
  const before = all.agent.runs.length
  await does(all.ann, chat, begins(all.ann, turnId))
  return all.agent.given(before)
}

/** The summary in the list. It is the same in the snapshot of the session. */
async function summary({ ben, session }: OlderSession) {
  await untilIdle()
  const [entry] = await listed(ben)
  const { snapshot } = (await ben.subscribe(session)) as { readonly snapshot: { readonly state: object } }
  expect(snapshot.state).toMatchObject({ summary: entry })
  return entry
}

test('[R003-33] the activity of the status is that of the default chat, or else of the chat that was changed last', async () => {
  const all = await chats(other, third)
  const { ann, session, turns } = all
  const own = await begun(all, turns, 't1')
  expect(await summary(all)).toMatchObject({ status: 8 })
  await ends(all, own)
  const second = await begun(all, other, 't2')
  expect(await summary(all)).toMatchObject({ status: 1 })
  await does(ann, session, { type: 'session/defaultChatChanged', defaultChat: other })
  expect(await summary(all)).toMatchObject({ status: 8 })
  await ann.ask('disposeChat', {}, other)
  expect(second.signal.aborted).toBe(true)
  all.world.advance(60_000)
  await begun(all, third, 't3')
  expect(ann.state(session)).not.toHaveProperty('defaultChat')
  expect(await summary(all)).toMatchObject({ status: 8 })
})

test('[R003-34 R003-35 R003-36 R003-37] any chat that needs input or has failed makes the session so, with its activity; the flags are those of the session', async () => {
  const all = await chats(other)
  const { ann, session, turns } = all
  await does(ann, session, { type: 'session/isArchivedChanged', isArchived: true })
  await says(all, await begun(all, turns, 't1'), activity('Reading'))
  expect(await summary(all)).toMatchObject({ status: 8 | 64, activity: 'Reading' })
  const second = await begun(all, other, 't2')
  await says(all, second, activity('Writing'))
  expect(await summary(all)).toMatchObject({ status: 8 | 64, activity: 'Reading' })
  await says(all, second, asks)
  expect(await summary(all)).toMatchObject({ status: 24 | 64, activity: 'Writing' })
  await does(ann, session, { type: 'session/isReadChanged', isRead: true })
  expect(await summary(all)).toMatchObject({ status: 24 | 32 | 64 })
  second.fail(new Error('x'))
  await ann.until(() => ann.state(other)['activeTurn'] === undefined)
  expect(await summary(all)).toMatchObject({ status: 2 | 32 | 64 })
})

test('[R003-38] `modifiedAt` is the latest time of all chats', async () => {
  const all = await chats(other)
  for (const [n, chat] of [all.turns, other].entries()) {
    all.world.advance(60_000)
    await ends({ ...all, turns: chat }, await begun(all, chat, `t${n}`))
    const { modifiedAt } = (await summary(all)) as { readonly modifiedAt: number }
    expect(modifiedAt).toBe(all.world.now())
  }
})

test('[R003-40] `workingDirectory` is that of the session, whatever a single chat has', async () => {
  const all = await chats()
  // At 0.4 `createChat` has no directory, so a client of 1.0 gives the chat one.
  const newer = await all.join('newer')
  const channel = all.session
  newer.dispatch(channel, { type: 'session/workingDirectorySet', directory: 'file:///x' })
  await newer.ask('createChat', { channel, chat: other, workingDirectories: ['file:///x'] })
  for (const client of [all.ann, all.ben]) await client.subscribe(other)
  expect(all.ben.state(other)['workingDirectory']).toBe('file:///x')
  await begun(all, other, 't1')
  expect(await summary(all)).toMatchObject({ workingDirectory: 'file:///w' })
})

test('[R003-32 R003-42] with a single chat the list and the summary have the values of that chat, without a subscription', async () => {
  const all = await chats()
  const { ann, session, turns } = all
  all.world.advance(60_000)
  const run = await begun(all, turns, 't1')
  await says(all, run, activity('Reading'))
  const [chat] = ann.state(session)['chats'] as readonly { readonly [key: string]: unknown }[]
  expect(chat).toMatchObject({ resource: turns, status: 8, activity: 'Reading' })
  const modifiedAt = Date.parse(String(chat?.['modifiedAt']))
  expect(await summary(all)).toMatchObject({
    title: chat?.['title'],
    status: 8,
    activity: 'Reading',
    modifiedAt,
  })
  await listTold(all)
  const changes = told(all.ben, 'sessionSummaryChanged').map((params) => params['changes'])
  const added = told(all.ben, 'sessionAdded').map((params) => params['summary'])
  expect(Object.assign({}, ...added, ...changes)).toMatchObject({ status: 8, activity: 'Reading' })
  expect(summaryOf(ann, session)).toMatchObject({ activity: 'Reading' })
})
