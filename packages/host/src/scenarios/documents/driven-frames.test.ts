import { expect, test } from 'vitest'
import { session, title, untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { TestHost } from '../../../test/test-host.ts'
import { accepted, chat, says, started, twoClientSession } from '../../../test/two-client-session.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { AgentAction } from '../../ports/agent.ts'

const does = (activity: string): AgentAction => ({ type: 'chat/activityChanged', activity })
const begins = (client: OlderClient, turnId: string, text = 'go') =>
  client.dispatch(chat, {
    type: 'chat/turnStarted',
    turnId,
    message: { text, origin: { kind: 'user' } },
    ...(client.version === '1.0.0' && { startedAt: '2026-01-01T00:00:00.000Z' }),
  })
const summaryOf = (client: OlderClient) => client.state(session)['summary'] as Value

test('[H9] chat channel: `chat/turnResume` of a client continues a turn that failed, and another client of 1.0 sees the same', async () => {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  const [one, two] = [new OlderClient(all, '1.0.0', 'one'), new OlderClient(all, '1.0.0', 'two')]
  for (const client of [one, two]) await client.open([session, chat])
  begins(one, 't1')
  ;(await all.agent.given(0)).fail(new TurnFailed('x', 'Broken.', true))
  await one.until(() => (one.state(chat)['turns'] as readonly unknown[]).length === 1)
  const { rejectionReason } = await two.echo(two.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' }))
  expect(rejectionReason).toBeUndefined()
  const again = await all.agent.given(1)
  expect(again.chat.turnId).toBe('t1')
  again.end()
  for (const client of [one, two]) {
    await client.until(() => (client.state(chat)['turns'] as readonly Value[])[0]?.['state'] === 'complete')
    expect(client.state(chat)['activeTurn']).toBeUndefined()
  }
  expect(one.state(chat)).toEqual(two.state(chat))
  const late = await two.echo(two.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' }))
  expect(late.rejectionReason).toEqual(expect.any(String))
})

test('[V9.2] [L2.8] session channel, Server Validation: at 0.4 `session/agentChanged` waits while a turn is active in any chat, and then holds', async () => {
  const all = await twoClientSession()
  const older = new OlderClient(all, '0.4.0')
  await older.open([session, chat])
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given(0)
  const seq = older.dispatch(session, { type: 'session/agentChanged', agent: { uri: 'agent:/reviewer' } })
  await older.ask('ping', {})
  await untilIdle()
  await older.echo(older.dispatch(session, { type: 'session/titleChanged', title: 'Sent later' }))
  expect(summaryOf(older)['agent']).toBeUndefined()
  expect(older.envelopes.some(({ action }) => action.type === 'session/agentChanged')).toBe(false)
  run.end()
  const { rejectionReason } = await older.echo(seq)
  expect(rejectionReason).toBeUndefined()
  await older.until(() => summaryOf(older)['agent'] !== undefined)
  expect(summaryOf(older)['agent']).toEqual({ uri: 'agent:/reviewer' })
  begins(older, 't2')
  const next = await all.agent.given(1)
  expect(next.chat.state.activeTurn?.message.agent).toEqual({ uri: 'agent:/reviewer' })
})

test.each(['0.4.0', '0.6.0', '1.0.0'] as const)(
  '[H10.7] session channel, Chat aggregation: at %s the activity of the chat is mirrored in the session and in the list, and ends there',
  async (version) => {
    const all = await twoClientSession()
    const client = new OlderClient(all, version)
    await client.open([client.root, session])
    await pass(all)
    const shown = () => (version === '0.4.0' ? summaryOf(client) : client.state(session))['activity']
    const told = () =>
      client.notes
        .filter(({ method }) => method === 'root/sessionSummaryChanged')
        .map(({ params }) => (params['changes'] as Value)['activity'])
        .filter((each) => each !== undefined)
    await accepted(all.ann, chat, started('t1'))
    const run = await all.agent.given(0)
    await says(all, run, does('Reading'))
    await client.until(() => shown() === 'Reading')
    await pass(all)
    expect(told().at(-1)).toBe('Reading')
    run.end()
    await client.until(() => shown() === undefined)
    await pass(all)
    expect(told().at(-1)).toBe('')
  },
)

/** The changes of the session list that a client was told, as texts. */
const changesTold = (client: OlderClient) => client.notes.map(({ params }) => JSON.stringify(params))

/** Lets the host deliver everything that it collects for the session list. */
async function pass({ world }: TestHost): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await untilIdle()
    world.advance(100)
  }
  await untilIdle()
}

test.each(['0.1.0', '0.4.0', '1.0.0'] as const)(
  '[H10.5] state model, Session List: at %s a notification after a reconnect tells the present; none is replayed',
  async (version) => {
    const all = await twoClientSession()
    const client = new OlderClient(all, version)
    await client.open([client.root])
    await accepted(all.ann, session, title('seen'))
    await pass(all)
    expect(changesTold(client).some((each) => each.includes('"seen"'))).toBe(true)
    client.notes.length = 0
    client.unplug()
    for (const name of ['missed', 'present']) {
      await accepted(all.ann, session, title(name))
      await pass(all)
    }
    // This change is not sent yet when the client comes back.
    await accepted(all.ann, session, title('newest'))
    await client.reconnect()
    await pass(all)
    expect(changesTold(client).filter((each) => each.includes('missed') || each.includes('present'))).toEqual(
      [],
    )
    expect(changesTold(client).some((each) => each.includes('"newest"'))).toBe(true)
  },
)
