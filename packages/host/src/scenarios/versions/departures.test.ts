import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'
import { providedBy, running, toolCallStarted } from '../../../test/tool-call-actions.ts'

const session = 'mock:/one'
const versions = ['0.1.0', '0.2.0', '0.3.0', '0.4.0', '0.5.0', '0.6.0', '0.8.0', '0.9.0', '1.0.0'] as const

/** The ids of the active clients that a client sees. Up to 0.4 a session has at most one. */
function activeIn(client: OlderClient): readonly unknown[] {
  const { activeClient, activeClients } = client.state(session) as {
    activeClient?: Value
    activeClients?: Value[]
  }
  return (activeClients ?? (activeClient ? [activeClient] : [])).map(({ clientId }) => clientId)
}

const claim = ({ version, clientId }: OlderClient) => ({
  type: version < '0.5' ? 'session/activeClientChanged' : 'session/activeClientSet',
  activeClient: { clientId, tools: [{ name: 'x' }] },
})

/** A client that is active, one that watches, and one that becomes active later. All speak this version. */
async function clientsAt(version: (typeof versions)[number]) {
  const agent = new ScriptedAgent({ resumes: true })
  const all = await testHost({ agents: [agent] })
  const [ann, ben, eve] = ['ann', 'ben', 'eve'].map((id) => new OlderClient(all, version, id)) as [
    OlderClient,
    OlderClient,
    OlderClient,
  ]
  for (const client of [ann, ben, eve]) await client.open([client.root])
  await ann.createSession(session)
  for (const client of [ann, ben, eve]) {
    await client.subscribe(session)
    if (!client.merged) await client.subscribe(client.turnsOf(session))
  }
  await ann.echo(ann.dispatch(session, claim(ann)))
  await ben.until(() => activeIn(ben).includes('ann'))
  const leave = async () => {
    ann.unplug()
    await until(() => !all.core().clients.links.has('ann'))
  }
  return { all, agent, ann, ben, eve, leave }
}

describe.each(versions)('[H6.2] customizations, Client Disconnect and Tool Calls, at %s', (version) => {
  test('a client that does not come back is cleared after its time, with its tools', async () => {
    const { all, ben, leave } = await clientsAt(version)
    await leave()
    all.world.advance(limits.toolGraceMs - 1)
    await ben.ask('ping', {})
    expect(activeIn(ben)).toEqual(['ann'])
    all.world.advance(1)
    await ben.until(() => activeIn(ben).length === 0)
    expect(ben.envelopes.at(-1)?.action).toMatchObject(
      version < '0.5'
        ? { type: 'session/activeClientChanged' }
        : { type: 'session/activeClientRemoved', clientId: 'ann' },
    )
    expect(JSON.stringify(ben.state(session))).not.toContain('"name":"x"')
  })

  test('another client that takes the role is the only one that a third one sees', async () => {
    const { all, ben, eve, leave } = await clientsAt(version)
    await leave()
    all.world.advance(limits.toolGraceMs)
    await ben.until(() => activeIn(ben).length === 0)
    expect((await eve.echo(eve.dispatch(session, claim(eve)))).rejectionReason).toBeUndefined()
    await ben.until(() => activeIn(ben).includes('eve'))
    expect(activeIn(ben)).toEqual(['eve'])
  })

  test('its running call fails in the same moment', async () => {
    const { all, agent, ben, leave } = await clientsAt(version)
    const message = { text: 'go', origin: { kind: 'user' } }
    ben.dispatch(ben.turnsOf(session), {
      type: ben.turnType('turnStarted'),
      turnId: 't1',
      startedAt: '2026-01-01T00:00:00.000Z',
      ...(version < '0.3' ? { userMessage: { text: 'go' } } : { message }),
    })
    const run = await agent.given()
    run.say(toolCallStarted(providedBy('ann')), running)
    const shown = () => JSON.stringify(ben.state(ben.turnsOf(session)))
    await ben.until(() => shown().includes('"running"'))
    await leave()
    all.world.advance(limits.toolGraceMs)
    await ben.until(() => shown().includes('The client that provides this tool has left'))
    expect(activeIn(ben)).toEqual([])
    run.end()
  })
})
