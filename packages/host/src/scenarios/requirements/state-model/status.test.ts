import { Activity, Flag } from '@atrium/protocol/status'
import { expect, test } from 'vitest'
import type { Run } from '../../../../test/scripted-agent.ts'
import { asks, call, ready, toolCallStarted, unseen } from '../../../../test/tool-call-actions.ts'
import { says } from '../../../../test/two-client-session.ts'
import {
  caughtUp,
  does,
  ends,
  expectInStep,
  listed,
  olderSession,
  summaryOf,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { OlderSession } from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const activities: readonly number[] = [
  Activity.Idle,
  Activity.Error,
  Activity.InProgress,
  Activity.InputNeeded,
]

/** The status that both clients have computed, and that the list has. One of the four activities holds. */
async function status(all: OlderSession): Promise<number> {
  const { ann, ben, session } = all
  for (const client of [ann, ben]) await caughtUp(client)
  const value = Number(summaryOf(ben, session)['status'])
  expect(Number((await listed(ann))[0]?.['status'])).toBe(value)
  await expectInStep(all)
  expect(activities.filter((activity) => (value & 31) === activity)).toHaveLength(1)
  return value
}

const decided = (more: object) => ({ type: 'session/toolCallConfirmed', turnId: 't1', ...call, ...more })

async function confirmedCall(all: OlderSession): Promise<Run> {
  const run = await turnOf(all, 't1', toolCallStarted(), ready())
  expect(await status(all)).toBe(24)
  await does(all.ben, all.session, decided({ approved: true, confirmed: 'user-action' }))
  expect(await status(all)).toBe(8)
  return run
}

test('[R000-43 R000-44 R000-45 R000-47 R000-48 R000-49 R000-54] idle is 1, a turn is 8, a call that waits for a confirmation before or after it ran is 24, which contains 8', async () => {
  const all = await olderSession(version)
  expect(await status(all)).toBe(1)
  const run = await confirmedCall(all)
  await says(all, run, unseen)
  expect(await status(all)).toBe(24)
  expect((await status(all)) & Activity.InProgress).toBe(Activity.InProgress)
  await does(all.ann, all.session, {
    type: 'session/toolCallResultConfirmed',
    turnId: 't1',
    ...call,
    approved: true,
  })
  expect(await status(all)).toBe(8)
  await ends(all, run)
  expect(await status(all)).toBe(1)
})

test('[R000-46 R000-48] an open request for input is 24, and a failed turn is 2 until the next turn', async () => {
  const all = await olderSession(version)
  const run = await turnOf(all, 't1', asks)
  expect(await status(all)).toBe(24)
  run.fail(new Error('x'))
  await all.ben.until(() => all.ben.state(all.session)['activeTurn'] === undefined)
  expect(await status(all)).toBe(2)
  const next = await turnOf(all, 't2')
  expect(await status(all)).toBe(8)
  await ends(all, next)
  expect(await status(all)).toBe(1)
})

test('[R000-50 R000-51 R000-52] a client sets and clears the read bit; a turn and a request for input clear it without an action of a client', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  const read = (isRead: boolean) => does(ann, session, { type: 'session/isReadChanged', isRead })
  await read(true)
  expect(await status(all)).toBe(1 | 32)
  await read(false)
  expect(await status(all)).toBe(1)
  await read(true)
  const run = await turnOf(all, 't1')
  expect(await status(all)).toBe(8)
  await read(true)
  expect(await status(all)).toBe(8 | 32)
  await says(all, run, asks)
  expect(await status(all)).toBe(24)
  await read(true)
  run.fail(new Error('x'))
  await ann.until(() => ann.state(session)['activeTurn'] === undefined)
  expect(await status(all)).toBe(2 | 32)
})

test('[R000-53 R000-55] the flags combine with every activity and with one another', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  const archived = (isArchived: boolean) =>
    does(ann, session, { type: 'session/isArchivedChanged', isArchived })
  await archived(true)
  expect(await status(all)).toBe(Activity.Idle | Flag.IsArchived)
  await does(ann, session, { type: 'session/isReadChanged', isRead: true })
  expect(await status(all)).toBe(97)
  const run = await turnOf(all, 't1', asks)
  expect(await status(all)).toBe(24 | 64)
  run.fail(new Error('x'))
  await ann.until(() => ann.state(session)['activeTurn'] === undefined)
  expect(await status(all)).toBe(2 | 64)
  await archived(false)
  expect(await status(all)).toBe(2)
})
