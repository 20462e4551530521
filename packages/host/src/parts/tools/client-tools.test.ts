import type { ChatState } from '@atrium/protocol/chat/state'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import {
  toolCallStarted,
  complete,
  confirmed,
  registersTools,
  providedBy,
  ready,
  running,
} from '../../../test/tool-call-actions.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import { chat, says, twoClientSession, turn } from '../../../test/two-client-session.ts'

/** Ann is an active client, and a call of a tool that she provides is running. */
async function runningCall(...output: Parameters<typeof turn>[2][]) {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  await all.ann.echo(all.ann.dispatch(session, registersTools('ann')))
  await turn(all, 't1', ...output)
  return all
}
const clientCall = [toolCallStarted(providedBy('ann')), running]
const callIn = (client: Client) => {
  const [part] = (client.state(chat) as unknown as ChatState).activeTurn?.responseParts ?? []
  return part?.kind === 'toolCall' ? part.toolCall : undefined
}
const left = async (all: Awaited<ReturnType<typeof runningCall>>) => {
  all.ann.peer.close()
  while (all.core().clients.links.has('ann')) await all.ben.ask('ping', {})
}
const failed = {
  status: 'completed',
  success: false,
  error: { message: 'The client that provides this tool has left' },
}

test('[X7] F-39 [S-57 toolGraceMs] at 30,000 ms a client that comes back completes its call', async () => {
  expect(limits.toolGraceMs).toBe(30_000)
  const all = await runningCall(...clientCall)
  await left(all)
  all.world.advance(29_999)
  const ann = await all.join('ann', { subscribe: [session, chat] })
  all.world.advance(60_000)
  expect(callIn(ann)?.status).toBe('running')
  expect((await ann.echo(ann.dispatch(chat, complete))).rejectionReason).toBeUndefined()
  expect(callIn(ann)).toMatchObject({ status: 'completed', success: true })
})

test('[X7.1] [X7] F-39 [S-57 toolGraceMs] past 30,000 ms the call has failed, once, and its client is not active', async () => {
  const all = await runningCall(...clientCall)
  await left(all)
  all.world.advance(30_000)
  await all.ben.until(() => callIn(all.ben)?.status === 'completed')
  expect(callIn(all.ben)).toMatchObject(failed)
  const ann = await all.join('ann', { subscribe: [session, chat] })
  expect((await ann.echo(ann.dispatch(chat, complete))).rejectionReason).toBe('this tool call is not running')
  expect(ann.state(session)['activeClients']).toEqual([])
})

test('[X7.1] [X7] F-39: a host that restarts within that time waits for the whole time again', async () => {
  const all = await runningCall(...clientCall)
  await left(all)
  all.world.advance(20_000)
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [chat] })
  all.world.advance(20_000)
  await ben.ask('ping', {})
  expect(callIn(ben)?.status).toBe('running')
  all.world.advance(10_000)
  await ben.until(() => callIn(ben)?.status === 'completed')
  expect(callIn(ben)).toMatchObject(failed)
})

test('[X7] a call confirmed while its client is away waits for the client, and a call of an unknown client fails at once', async () => {
  const all = await runningCall(toolCallStarted(providedBy('ann')), ready())
  await left(all)
  all.world.advance(20_000)
  await all.ben.echo(all.ben.dispatch(chat, confirmed))
  expect(callIn(all.ben)?.status).toBe('running')
  all.world.advance(10_000)
  await all.ben.until(() => callIn(all.ben)?.status === 'completed')
  expect(callIn(all.ben)).toMatchObject(failed)
  const other = await twoClientSession()
  await turn(other, 't1', toolCallStarted(providedBy('stranger')), running)
  await other.ann.until(() => callIn(other.ann)?.status === 'completed')
  expect(callIn(other.ann)).toMatchObject(failed)
})

test('[X7.2] [X7] a call of a connected but inactive client fails when it is confirmed', async () => {
  const all = await runningCall(toolCallStarted(providedBy('ann')), ready())
  const gone = { type: 'session/activeClientRemoved', clientId: 'ann' }
  expect((await all.ann.echo(all.ann.dispatch(session, gone))).rejectionReason).toBeUndefined()
  expect(callIn(all.ann)?.status).toBe('pending-confirmation')
  await all.ben.echo(all.ben.dispatch(chat, confirmed))
  await all.ben.until(() => callIn(all.ben)?.status === 'completed')
  expect(callIn(all.ben)).toMatchObject(failed)
})

test('[X7] a call runs whose client became inactive and active again while the call asked', async () => {
  const all = await runningCall(toolCallStarted(providedBy('ann')), ready())
  const gone = { type: 'session/activeClientRemoved', clientId: 'ann' }
  for (const action of [gone, registersTools('ann')]) await all.ann.echo(all.ann.dispatch(session, action))
  await all.ben.echo(all.ben.dispatch(chat, confirmed))
  expect(callIn(all.ben)?.status).toBe('running')
  expect((await all.ann.echo(all.ann.dispatch(chat, complete))).rejectionReason).toBeUndefined()
})

test('[X7] of the calls of several clients, those of the client that left fail', async () => {
  const all = await runningCall()
  await all.ben.echo(all.ben.dispatch(session, registersTools('ben')))
  const run = await all.agent.given()
  const other = { toolCallId: 'c2' }
  await says(all, run, toolCallStarted({ ...providedBy('ann') }), running)
  await says(
    all,
    run,
    toolCallStarted({ ...providedBy('ben'), ...other }),
    ready({ confirmed: 'not-needed', ...other }),
  )
  const gone = { type: 'session/activeClientRemoved', clientId: 'ann' }
  await all.ann.echo(all.ann.dispatch(session, gone))
  await all.ben.until(() => callIn(all.ben)?.status === 'completed')
  expect((all.ben.state(chat) as unknown as ChatState).activeTurn?.responseParts).toMatchObject([
    { toolCall: { toolCallId: 'c1', ...failed } },
    { toolCall: { toolCallId: 'c2', status: 'running' } },
  ])
})

test('[X7] F-08: a read-only host lets a call wait', async () => {
  const all = await runningCall(...clientCall)
  await all.core().log.settled()
  await all.restart('close', 'the disk is sealed')
  const ben = await all.join('ben', { subscribe: [session, chat] })
  all.world.advance(60_000)
  await ben.ask('ping', {})
  expect(callIn(ben)?.status).toBe('running')
  expect(all.world.reports).toEqual([])
})

test('[X7] F-39: a host that is slow to start fails the calls of clients whose time ran out meanwhile', async () => {
  const all = await runningCall(...clientCall)
  await left(all)
  const store = all.store()
  const slow = store.reopen()
  const load = slow.log.load.bind(slow.log)
  // The grace period of the client ends before the chat of the call is loaded.
  const late: typeof load = (uri, ...more) => {
    if (uri === chat) all.world.advance(30_000)
    return load(uri, ...more)
  }
  Object.assign(slow.log, { load: late })
  Object.assign(store, { reopen: () => slow })
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [chat] })
  all.world.advance(30_000)
  const calls = () => JSON.stringify(ben.state(chat)['turns'])
  await ben.until(() => calls().includes('The client that provides this tool has left'))
  expect(calls()).toContain('"resumable":true')
})
