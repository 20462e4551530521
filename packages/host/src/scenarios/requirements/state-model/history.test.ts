import { expect, test } from 'vitest'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import { delta, part } from '../../../../test/two-client-session.ts'
import type { OlderClient, Value } from '../../../../test/versions/older-client.ts'
import {
  begins,
  caughtUp,
  does,
  ends,
  expectInStep,
  isRefused,
  listTold,
  listedUris,
  olderSession,
  summaryOf,
  told,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { OlderSession } from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const truncated = (turnId?: string) => ({
  type: 'session/truncated',
  ...(turnId !== undefined && { turnId }),
})
const turnsOf = (client: OlderClient, session: string) =>
  (client.state(session)['turns'] as readonly Value[]).map(({ id }) => id)

async function threeTurns(): Promise<OlderSession> {
  const agent = new ScriptedAgent({ capabilities: { multipleChats: { fork: true } } })
  const all = await olderSession(version, { agent })
  for (const id of ['t1', 't2', 't3'])
    await ends(all, await turnOf(all, id, part(id), delta(id, `answer ${id}`)))
  return all
}

test('[R000-155 R000-156 R000-157 R000-158] a truncation keeps the turns up to the named one; an active turn is dropped, and the session is idle', async () => {
  const all = await threeTurns()
  const { ann, ben, session } = all
  const run = await turnOf(all, 't4')
  const echo = await does(ben, session, truncated('t2'))
  expect(echo.action).toEqual({ ...truncated('t2'), session })
  await caughtUp(ann)
  for (const client of [ann, ben]) {
    expect(turnsOf(client, session)).toEqual(['t1', 't2'])
    expect(client.state(session)['activeTurn']).toBeUndefined()
    expect(summaryOf(client, session)['status']).toBe(1)
  }
  expect(run.signal.aborted).toBe(true)
  await expectInStep(all)
})

test('[R000-159 R000-160] without a turn it removes all turns, and an edited message can follow at once', async () => {
  const all = await threeTurns()
  const { ann, ben, session } = all
  const seqs = [truncated(), begins(ann, 't4', 'better')].map((action) => ann.dispatch(session, action))
  for (const seq of seqs) expect((await ann.echo(seq)).rejectionReason).toBeUndefined()
  await all.agent.given(3)
  await caughtUp(ben)
  expect(turnsOf(ben, session)).toEqual([])
  expect(ben.state(session)['activeTurn']).toMatchObject({ id: 't4', userMessage: { text: 'better' } })
  await expectInStep(all)
})

test('[R000-161] a turn that is not among the finished ones changes nothing', async () => {
  const all = await threeTurns()
  const { ann, ben, session } = all
  const run = await turnOf(all, 't4')
  for (const turnId of ['t4', 'none']) await isRefused(ann, session, truncated(turnId))
  expect(run.signal.aborted).toBe(false)
  await caughtUp(ben)
  expect(turnsOf(ben, session)).toEqual(['t1', 't2', 't3'])
  expect(ben.state(session)['activeTurn']).toMatchObject({ id: 't4' })
  await expectInStep(all)
})

test('[R000-162 R000-163 R000-164 R000-165] a fork has the turns of its source up to the named one, is announced, and is independent', async () => {
  const all = await threeTurns()
  const { ann, ben, session } = all
  const fork = 'mock:/fork'
  await listTold(all)
  expect(await ann.createSession(fork, { provider: 'mock', fork: { session, turnId: 't2' } })).toBeNull()
  await listTold(all)
  expect(told(ben, 'sessionAdded').at(-1)).toMatchObject({ summary: { resource: fork, provider: 'mock' } })
  expect(await listedUris(ben)).toEqual([fork, session])
  await ben.subscribe(fork)
  const source = ben.state(session)['turns'] as readonly Value[]
  expect(ben.state(fork)['turns']).toEqual(source.slice(0, 2))
  await does(ben, fork, truncated('t1'))
  await does(ann, session, { type: 'session/titleChanged', title: 'Source' })
  await does(ben, fork, begins(ben, 't4', 'other'))
  await caughtUp(ben)
  expect([turnsOf(ben, session), turnsOf(ben, fork)]).toEqual([['t1', 't2', 't3'], ['t1']])
  expect(ben.state(fork)['activeTurn']).toMatchObject({ userMessage: { text: 'other' } })
  expect(ben.state(session)['activeTurn']).toBeUndefined()
  expect(summaryOf(ben, fork)['title']).not.toBe('Source')
})
