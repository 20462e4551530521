import { changesOf } from '../../../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { expect, test } from 'vitest'
import {
  beginTurn,
  capturedSession,
  endTurn,
  endedRecord,
} from '../../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../../test/captures/captured-session.ts'
import { changeset } from '../../../../test/captures/changeset-client.ts'
import { session, title } from '../../../../test/held-flushes.ts'
import {
  asks,
  completed,
  confirmed,
  ready,
  result,
  running,
  toolCallStarted,
} from '../../../../test/tool-call-actions.ts'
import { until } from '../../../../test/scripted-agent.ts'
import type { Run } from '../../../../test/scripted-agent.ts'
import { accepted, chat, says, started, subscribeTo } from '../../../../test/two-client-session.ts'
import type { AgentAction } from '../../../ports/agent.ts'

const other: Uri = 'ahp-chat:/b'
const complete = { type: 'chat/toolCallComplete', toolCallId: 'c2', ...result(true) } as AgentAction
const second = (action: AgentAction) => ({ ...action, toolCallId: 'c2' }) as AgentAction

/** A session with a second chat, whose turn `t1` is in progress. */
async function withOther(): Promise<{ readonly all: CapturedSession; readonly beside: Run }> {
  const all = await capturedSession()
  await all.ann.ask('createChat', { channel: session, chat: other })
  await subscribeTo(all.ann, [other])
  const before = all.agent.runs.length
  await accepted(all.ann, other, started('t1'))
  return { all, beside: await all.agent.given(before) }
}

/** Runs a turn whose call writes a file. `meanwhile` runs while the call does. Returns the paths that others may have changed. */
async function sharedBeside(all: CapturedSession, meanwhile = async () => {}): Promise<unknown> {
  const run = await beginTurn(all, 'mine')
  await says(all, run, second(toolCallStarted()), second(running))
  await changesOf(all.core())?.ready(chat)
  all.write('call.txt', 'the call')
  await meanwhile()
  await says(all, run, complete)
  await endTurn(all, run)
  return (await endedRecord(all, 'mine'))?.folders[0]?.shared
}

test('[O33.3] [O33] a turn that only waits for a person is not active: what another turn changes meanwhile is its own', async () => {
  const { all, beside } = await withOther()
  await says(all, beside, toolCallStarted(), ready())
  expect(await sharedBeside(all)).toBeUndefined()
})

test('[O33.3] [O33] a turn that waits for the answers to a form is not active', async () => {
  const { all, beside } = await withOther()
  await says(all, beside, asks)
  expect(await sharedBeside(all)).toBeUndefined()
  await accepted(all.ann, other, completed('r1', { response: 'cancel' }))
})

test('[O33.3] [O33] a turn is active while another call of it runs beside the one that waits', async () => {
  const { all, beside } = await withOther()
  await says(all, beside, toolCallStarted(), ready(), second(toolCallStarted()), second(running))
  expect(await sharedBeside(all)).toEqual(['call.txt'])
})

test('[O33.3] [O33] a turn is active again from the moment that its approval is answered', async () => {
  const { all, beside } = await withOther()
  await says(all, beside, toolCallStarted(), ready())
  const shared = await sharedBeside(all, () => accepted(all.ann, other, confirmed))
  expect(shared).toEqual(['call.txt'])
})

test('[O33.3] [O33] what changes while a turn waits for a person is not its own', async () => {
  const { all, beside } = await withOther()
  await says(all, beside, toolCallStarted(), ready())
  await sharedBeside(all)
  await accepted(all.ann, other, confirmed)
  beside.end()
  await until(() => all.core().log.channel(other, 'chat')?.committed?.activeTurn === undefined)
  expect((await endedRecord(all, 't1', other))?.folders[0]?.shared).toEqual(['call.txt'])
})

test('[O38.4] [O38] an undo that can set nothing back names the files, and the session that was active beside the turn', async () => {
  const { all, beside } = await withOther()
  await accepted(all.ann, session, title('Fix the parser'))
  await says(all, beside, toolCallStarted(), running)
  await sharedBeside(all)
  const { operations = [] } = await changeset(all.ann, `${chat}/changeset/turn/mine`)
  expect(operations[0]).toMatchObject({ id: 'undo', status: 'disabled' })
  expect(operations[0]?.description).toBe(
    'Nothing can be set back: others may have changed these files, too: call.txt. ' +
      'A turn of the session "Fix the parser" was active in the folder at the same time. ' +
      'For each of these files there are three choices: keep it, set it back with a copy, or set it back anyway.',
  )
})
