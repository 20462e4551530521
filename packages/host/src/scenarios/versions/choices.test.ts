import { describe, expect, test } from 'vitest'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const session = 'mock:/one'
const newer = { id: 'new' }
const older = { id: 'old' }

/** A client at 0.4 and one at 0.1 in a session of a scripted agent, and one at 1.0 that follows both channels. */
async function setUp() {
  const agent = new ScriptedAgent({ resumes: true })
  const all = await testHost({ agents: [agent] })
  const clients = (['0.4.0', '0.1.0', '1.0.0'] as const).map((version) => new OlderClient(all, version))
  const [at04, at01, at10] = clients as [OlderClient, OlderClient, OlderClient]
  for (const client of clients) await client.open()
  await at04.createSession(session, { model: older })
  for (const client of clients) {
    await client.subscribe(session)
    if (!client.merged) await client.subscribe(client.turnsOf(session))
  }
  return { all, agent, at04, at01, at10 }
}

const meta = (model: unknown) => ({ _meta: { 'x-atrium': { selection: { model } } } })
const summaryOf = (client: OlderClient) => client.state(session)['summary'] as Value
const echoesOf = ({ envelopes, clientId }: OlderClient, clientSeq: number) =>
  envelopes.filter(({ origin }) => origin?.clientId === clientId && origin.clientSeq === clientSeq)
const choose = (client: OlderClient, model: unknown) =>
  client.dispatch(session, { type: 'session/modelChanged', model })
const start = (client: OlderClient, turnId: string) =>
  client.dispatch(client.turnsOf(session), {
    type: client.turnType('turnStarted'),
    turnId,
    ...(client.nested
      ? { userMessage: { text: 'go' } }
      : { message: { text: 'go', origin: { kind: 'user' } } }),
  })

describe('[V9] the choice of a model for a session', () => {
  test('is shown to all clients up to 0.4, and its messages carry the model to the others', async () => {
    const { agent, at04, at01, at10 } = await setUp()
    expect(summaryOf(at04)['model']).toEqual(older)
    expect(summaryOf(at01)['model']).toEqual(older)
    const echo = await at01.echo(choose(at01, newer))
    expect(echo.action).toMatchObject({ type: 'session/modelChanged', model: newer, session })
    await at04.until(() => (summaryOf(at04)['model'] as Value)['id'] === 'new')
    await at04.echo(start(at04, 't1'))
    const run = await agent.given()
    expect(run.chat.state.activeTurn?.message.model).toEqual(newer)
    await at10.until(() => 'activeTurn' in at10.state(at10.turnsOf(session)))
    run.end()
  })

  test('[V9.1] state model, Session List: is in the list of sessions, and clients are told when it changes', async () => {
    const { all, agent, at04, at01, at10 } = await setUp()
    await at04.subscribe(at04.root)
    await at10.subscribe(at10.root)
    const clients = [at04, at01, at10]
    const entries = async () => {
      const results = clients.map(
        async (client) => (await client.ask('listSessions', {}))['items'] as Value[],
      )
      return (await Promise.all(results)).map((items) => items.find((each) => each['resource'] === session))
    }
    const named = { type: 'session/titleChanged', title: 'named' }
    await at04.echo(at04.dispatch(session, named))
    expect(await entries()).toMatchObject([{ model: older }, { model: older }, meta(older)])
    // In 0.1 a notification is a member of the params.
    const told = ({ notes }: OlderClient) =>
      notes
        .map(
          ({ method, params }) =>
            (params['notification'] as Value | undefined) ?? { ...params, type: method },
        )
        .flatMap(({ type, changes }) => (String(type).endsWith('essionSummaryChanged') ? [changes] : []))
    const untilTold = async (text: string) => {
      const isTold = (client: OlderClient) => JSON.stringify(told(client)).includes(JSON.stringify(text))
      while (!clients.every(isTold)) {
        all.world.advance(200)
        await entries()
      }
    }
    all.world.advance(200)
    await entries()
    await at01.echo(choose(at01, newer))
    await untilTold('new')
    const last = clients.map((client) => told(client).at(-1))
    expect(last).toMatchObject([{ model: newer }, { model: newer }, meta(newer)])
    for (const changes of last.slice(0, 2)) expect(changes).not.toHaveProperty('_meta')
    const [model, agentChoice] = [{ id: 'third', config: { effort: 2 } }, { uri: 'x:/reviewer' }]
    const message = { text: 'go', origin: { kind: 'user' }, model, agent: agentChoice }
    const startedAt = '2026-01-01T00:00:00Z'
    at10.dispatch(at10.turnsOf(session), { type: 'chat/turnStarted', turnId: 't1', startedAt, message })
    ;(await agent.given()).end()
    await at04.until(() => (summaryOf(at04)['model'] as Value)['id'] === 'third')
    await untilTold('third')
    // Up to 0.4 the settings of a model are texts. 0.1 has no agents to choose.
    const asText = { id: 'third', config: { effort: '2' } }
    const [entry04, entry01, entry10] = await entries()
    expect(entry04).toMatchObject({ model: asText, agent: agentChoice })
    expect(entry01).toMatchObject({ model: asText })
    expect(entry01).not.toHaveProperty('agent')
    expect(entry10).toMatchObject(meta(model))
  })

  test('[HC-8] follows the model of a message of a newer client', async () => {
    const { agent, at04, at01, at10 } = await setUp()
    const message = { text: 'go', origin: { kind: 'user' }, model: newer }
    const startedAt = '2026-01-01T00:00:00Z'
    at10.dispatch(at10.turnsOf(session), { type: 'chat/turnStarted', turnId: 't1', startedAt, message })
    ;(await agent.given()).end()
    for (const client of [at04, at01])
      await client.until(() => (summaryOf(client)['model'] as Value)['id'] === 'new')
  })

  test('waits for the end of the turn, and is then echoed; until then nobody sees it', async () => {
    const { agent, at04, at01 } = await setUp()
    await at04.echo(start(at04, 't1'))
    const run = await agent.given()
    const chosen = choose(at01, newer)
    // An action of the same client that comes later is echoed earlier.
    await at01.echo(at01.dispatch(session, { type: 'session/titleChanged', title: 'later' }))
    expect(echoesOf(at01, chosen)).toEqual([])
    expect(summaryOf(at04)['model']).toEqual(older)
    run.end()
    expect((await at01.echo(chosen)).action).toMatchObject({ type: 'session/modelChanged', model: newer })
    await at04.until(() => (summaryOf(at04)['model'] as Value)['id'] === 'new')
  })

  test('survives a crash while it waits, and a resend is not a second choice', async () => {
    const { all, agent, at04, at01 } = await setUp()
    await at04.echo(start(at04, 't1'))
    await agent.given()
    const chosen = choose(at01, newer)
    await at01.echo(at01.dispatch(session, { type: 'session/titleChanged', title: 'later' }))
    await all.restart()
    for (const client of [at04, at01]) await client.reconnect([session])
    // The turn was interrupted, so the choice is applied. Another choice follows before the first is sent again.
    await at01.until(() => (summaryOf(at01)['model'] as Value)['id'] === 'new')
    await at04.echo(choose(at04, older))
    at01.clientSeq = chosen - 1
    const again = await at01.echo(choose(at01, newer))
    expect(again.rejectionReason ?? again.action).toMatch(/^already accepted as \d+$/)
    await at01.until(() => (summaryOf(at01)['model'] as Value)['id'] === 'old')
  })

  test('is refused if it is no model, and if too many wait', async () => {
    const { agent, at04, at01 } = await setUp()
    const bad = await at04.echo(choose(at04, { name: 'x' }))
    expect(bad.rejectionReason).toContain('session/modelChanged: model')
    expect(bad.action).toEqual({ type: 'session/modelChanged', model: { name: 'x' } })
    await at04.echo(start(at04, 't1'))
    await agent.given()
    const all = Array.from({ length: 17 }, (_, n) => choose(at01, { id: `m${n}` }))
    const refused = await at01.echo(all[16] ?? 0)
    expect(refused.rejectionReason).toBe(
      '16 choices of a model or an agent wait for the end of the turn already: choose again after it',
    )
    expect(summaryOf(at01)['model']).toEqual(older)
  })

  test('is no action of newer versions', async () => {
    const { at10 } = await setUp()
    expect((await at10.echo(choose(at10, newer))).rejectionReason).toContain('session/modelChanged')
  })
})
