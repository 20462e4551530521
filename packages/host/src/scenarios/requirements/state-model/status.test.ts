import { Activity, Flag } from '@atrium/protocol/status'
import { expect, test } from 'vitest'
import type { Run } from '../../../../test/scripted-agent.ts'
import {
  asks,
  call,
  mcp,
  ready,
  signIn,
  toolCallStarted,
  unseen,
} from '../../../../test/tool-call-actions.ts'
import { says } from '../../../../test/two-client-session.ts'
import {
  caughtUp,
  does,
  ends,
  expectInStep,
  fresh,
  listTold,
  listed,
  olderSession,
  summaryOf,
  told,
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

/** What the notifications have told of the status since the last call. */
async function toldStatus(all: OlderSession): Promise<unknown> {
  await listTold(all)
  const changes = told(all.ben, 'sessionSummaryChanged').map((note) => note['changes'] as object)
  all.ben.notes.length = 0
  const { status: last } = Object.assign({}, ...changes) as { readonly status?: unknown }
  return last
}

test('[V14.3] a call that waits for a login is in progress: in the state, in the list, and in what is told of the list', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  await listTold(all)
  ben.notes.length = 0
  const run = await turnOf(all, 't1', toolCallStarted(mcp), ready({ confirmed: 'not-needed' }), signIn)
  expect(await status(all)).toBe(8)
  expect(await toldStatus(all)).toBe(8)
  await does(ann, session, { type: 'session/isReadChanged', isRead: true })
  expect(await status(all)).toBe(40)
  expect(await toldStatus(all)).toBe(40)
  // Beside the login a question waits, which 0.1 has.
  await says(all, run, asks)
  expect(Number(await status(all)) & 31).toBe(24)
  expect(Number(await toldStatus(all)) & 31).toBe(24)
  await does(ann, session, {
    type: 'session/inputCompleted',
    requestId: 'r1',
    response: 'cancel',
  })
  expect(Number(await status(all)) & 31).toBe(8)
  expect(Number(await toldStatus(all)) & 31).toBe(8)
})

test.each(['0.4.0', '0.5.0', '0.5.2'] as const)(
  '[V14.3] at %s the list says of a call that waits for a login that the session works',
  async (version) => {
    const all = await olderSession(version)
    await listTold(all)
    await turnOf(all, 't1', toolCallStarted(mcp), ready({ confirmed: 'not-needed' }), signIn)
    await caughtUp(all.ben)
    expect((await listed(all.ben))[0]).toMatchObject({ status: 8 })
    expect(JSON.stringify(await listed(all.ben))).not.toContain('withoutLogins')
    expect(await toldStatus(all)).toBe(8)
    const { summary = { status: 8 } } = await fresh(all, all.session)
    expect(summary).toMatchObject({ status: 8 })
  },
)
