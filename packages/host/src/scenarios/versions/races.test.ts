import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { desk } from '../../../test/approvals.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { severalChats } from '../../../test/several-chats.ts'
import { testHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const session = 's:/1'

test.each(['0.1.0', '0.4.0'] as const)(
  '[V8.5] [V8] a client at %s that makes itself active twice gets two echoes, each as it was sent',
  async (version) => {
    const { all } = await desk()
    const client = new OlderClient(all, version)
    await client.open([session])
    const activeClient = { clientId: client.clientId, displayName: 'Me', tools: [] }
    const join = () => client.dispatch(session, { type: 'session/activeClientChanged', activeClient })
    const first = await client.echo(join())
    const again = await client.echo(join())
    expect(again.rejectionReason).toBeUndefined()
    expect(again.action).toEqual(first.action)
  },
)

test('[V8] the last actions of a session that is disposed of have its name at 0.1', async () => {
  const { all, ann } = await desk()
  const own = 'ahp-session:/own'
  await ann.ask('createSession', { channel: own })
  const client = new OlderClient(all, '0.1.0')
  await client.open()
  await client.subscribe('guide:/own')
  const message = { text: 'later', origin: { kind: 'user' } }
  ann.dispatch(defaultChatUri(own), { type: 'chat/pendingMessageSet', kind: 'steering', id: 'q', message })
  await ann.ask('disposeSession', { channel: own })
  await untilIdle()
  const named = client.envelopes.map(({ action }) => action['session'])
  expect(named.length).toBeGreaterThan(0)
  expect(new Set(named)).toEqual(new Set(['guide:/own']))
})

test.each(['0.1.0', '0.3.0'] as const)(
  '[V8.10] [V8] a chat at %s has one name in its snapshot, whenever it is moved to a new session',
  async (version) => {
    const all = await testHost({ agents: [severalChats()] })
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: uri })
    const client = new OlderClient(all, version)
    await client.open()
    for (let ticks = 0; ticks < 40; ticks++) {
      const chat = `ahp-chat:/${ticks}`
      const name = `${uri}/chat/${encodeURIComponent(chat)}`
      await ann.ask('createChat', { channel: uri, chat })
      await client.subscribe(name)
      // An unknown number gets a snapshot instead of a replay.
      client.lastSeen = 0
      const moved = ann.ask('moveChat', { channel: chat, destination: { kind: 'newSession' } })
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
      const returned = client.reconnect([name])
      await moved
      const snapshots = (await returned)['snapshots'] as readonly Snapshot[]
      for (const { resource, state } of snapshots) expect(state.summary.resource).toBe(resource)
    }
  },
)

interface Snapshot {
  readonly resource: string
  readonly state: { readonly summary: { readonly resource: string } }
}

const uri = 'mock:/one'
const model = { id: 'new' }

/** A client at 0.4 whose choice of a model waits for the end of a turn. `disk.full` makes the disk refuse writes. */
async function waitingChoice() {
  const agent = new ScriptedAgent({ resumes: true })
  const disk = { full: false }
  const all = await testHost({ agents: [agent], full: () => disk.full })
  const client = new OlderClient(all, '0.4.0')
  await client.open()
  await client.createSession(uri, {})
  const message = { text: 'go', origin: { kind: 'user' } }
  const start = (turnId: string) =>
    client.dispatch(client.turnsOf(uri), { type: 'chat/turnStarted', turnId, message })
  const title = (text: string) => client.dispatch(uri, { type: 'session/titleChanged', title: text })
  await client.echo(start('t1'))
  const run = await agent.given()
  const chosen = client.dispatch(uri, { type: 'session/modelChanged', model })
  await client.echo(title('heard'))
  const resend = () => {
    const next = client.clientSeq
    client.clientSeq = chosen - 1
    client.dispatch(uri, { type: 'session/modelChanged', model })
    client.clientSeq = next
  }
  const answers = () => client.envelopes.filter(({ origin }) => origin?.clientSeq === chosen)
  return { all, agent, disk, client, start, title, run, chosen, resend, answers }
}

test('[V9.3] [V9] a choice that is applied after its client came back is not applied again by the resend', async () => {
  const { all, agent, client, start, title, run, chosen, resend, answers } = await waitingChoice()
  await client.reconnect([])
  // The turn ends, the choice is applied, and another turn begins. Only then does the resend arrive.
  run.end()
  const { serverSeq } = await client.echo(chosen)
  await client.echo(start('t2'))
  const next = await agent.given(1)
  resend()
  await client.echo(title('heard again'))
  next.end()
  await untilIdle()
  expect(answers().map(({ rejectionReason }) => rejectionReason)).toEqual([
    undefined,
    `already accepted as ${serverSeq}`,
  ])
  const fresh = new OlderClient(all, '1.0.0')
  await fresh.open([uri])
  const { selection, deferred } = (fresh.state(uri)['_meta'] as Value)['x-atrium'] as Value
  expect({ selection, deferred }).toEqual({ selection: { model }, deferred: undefined })
})

test('[V9.3] [V9] a choice that waits is not refused when it is sent again while the disk is full', async () => {
  const { all, disk, client, title, run, chosen, resend, answers } = await waitingChoice()
  disk.full = true
  title('waits for space')
  await client.until(() => client.notes.some(({ method }) => method === 'x-atrium/diskFull'))
  resend()
  await client.ask('listSessions', {})
  expect(answers()).toEqual([])
  disk.full = false
  all.world.advance(1000)
  run.end()
  expect((await client.echo(chosen)).rejectionReason).toBeUndefined()
})

test('[V8.6] [V8] an action whose type is not its first member is replayed in the version of the client', async () => {
  const all = await testHost({ agents: [new ScriptedAgent()] })
  const [client, newer] = [new OlderClient(all, '0.9.0'), new OlderClient(all, '1.0.0')]
  for (const each of [client, newer]) await each.open()
  await newer.createSession(uri, {})
  const chat = newer.turnsOf(uri)
  await client.subscribe(chat)
  client.unplug()
  await newer.echo(newer.dispatch(chat, { isArchived: true, type: 'chat/isArchivedChanged' }))
  expect(await client.reconnect()).toMatchObject({ type: 'replay', actions: [] })
})

test('[V8.9] [V8] a client that has seen only a part of the actions for one change gets the rest when it comes back', async () => {
  const agent = new ScriptedAgent({ resumes: true })
  const all = await testHost({ agents: [agent] })
  const [client, newer] = [new OlderClient(all, '0.4.0'), new OlderClient(all, '1.0.0')]
  for (const each of [client, newer]) await each.open()
  await newer.createSession(uri, {})
  await client.subscribe(uri)
  const chosen = { model, agent: { uri: 'agent:/a' } }
  const message = { text: 'go', origin: { kind: 'user' }, ...chosen }
  const startedAt = '2026-01-01T00:00:00Z'
  newer.dispatch(newer.turnsOf(uri), { type: 'chat/turnStarted', turnId: 't1', startedAt, message })
  const summary = () => client.state(uri)['summary'] as Value
  await client.until(() => 'agent' in summary())
  const [first] = client.envelopes.filter(({ action }) => action.type === 'session/modelChanged')
  // The connection is lost after the first of the two actions.
  client.states.set(uri, { ...client.state(uri), summary: { ...summary(), agent: undefined } })
  client.lastSeen = first?.serverSeq ?? 0
  await client.reconnect()
  expect(summary()).toMatchObject(chosen)
})
