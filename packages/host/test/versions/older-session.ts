import type { Action, Uri } from '@atrium/protocol/channel'
import { oracle } from '@atrium/protocol/oracles'
import { Wire } from '@atrium/protocol/oracles/wire'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { expect } from 'vitest'
import type { AgentAction } from '../../src/ports/agent.ts'
import { untilIdle } from '../held-flushes.ts'
import { ScriptedAgent } from '../scripted-agent.ts'
import type { Run } from '../scripted-agent.ts'
import { testHost } from '../test-host.ts'
import type { TestHost, TestHostOptions } from '../test-host.ts'
import { says } from '../two-client-session.ts'
import { OlderClient } from './older-client.ts'
import type { OlderEnvelope, Value } from './older-client.ts'

/** A host with a scripted agent, and a session of Ann's. Ann and Ben speak one version, and follow all of the session. */
export interface OlderSession extends TestHost {
  readonly agent: ScriptedAgent
  readonly ann: OlderClient
  readonly ben: OlderClient
  /** The session, as clients of this version name it. */
  readonly session: Uri
  /** The channel of its turns. */
  readonly turns: Uri
}

interface Options extends TestHostOptions {
  readonly agent?: ScriptedAgent
  /** More params of `createSession`. */
  readonly params?: Value
}

export async function olderSession(
  version: Version,
  { agent = new ScriptedAgent(), params = {}, ...options }: Options = {},
): Promise<OlderSession> {
  const all = await testHost({ ...options, agents: [agent] })
  const [ann, ben] = [new OlderClient(all, version, 'ann'), new OlderClient(all, version, 'ben')] as const
  for (const client of [ann, ben]) await client.open([client.root])
  const session = ann.nested ? 'mock:/one' : 'ahp-session:/one'
  const turns = ann.turnsOf(session)
  await ann.createSession(session, { provider: 'mock', ...params })
  for (const client of [ann, ben]) for (const uri of new Set([session, turns])) await client.subscribe(uri)
  await ann.until(() => ann.state(session)['lifecycle'] !== 'creating')
  return { ...all, agent, ann, ben, session, turns }
}

/** A host and clients of one version, each subscribed to the root. */
export async function olderClients(version: Version, options: TestHostOptions = {}) {
  const all = await testHost({ agents: [new ScriptedAgent()], ...options })
  const [ann, ben] = [new OlderClient(all, version, 'ann'), new OlderClient(all, version, 'ben')] as const
  for (const client of [ann, ben]) await client.open([client.root])
  return { all, ann, ben, session: ann.nested ? 'mock:/one' : 'ahp-session:/one' }
}

/** Dispatches an action and returns its echo. Expects that it is accepted. */
export async function does(
  client: OlderClient,
  channel: Uri,
  action: Action & Value,
): Promise<OlderEnvelope> {
  const echo = await client.echo(client.dispatch(channel, action))
  expect(echo.rejectionReason).toBeUndefined()
  return echo
}

/** Dispatches an action and returns the reason of its refusal. Expects that it is refused. */
export async function isRefused(client: OlderClient, channel: Uri, action: Action & Value): Promise<string> {
  const { rejectionReason } = await client.echo(client.dispatch(channel, action))
  expect(rejectionReason).toEqual(expect.any(String))
  return String(rejectionReason)
}

/** The action that begins a turn, as a client of a version writes it. */
export function begins(client: OlderClient, turnId: string, text = 'go', more: Value = {}): Action & Value {
  return { type: client.turnType('turnStarted'), turnId, ...new Wire(client.version).message(text, more) }
}

/** Begins a turn as Ann. The agent says these actions in it. */
export async function turnOf(
  all: OlderSession,
  turnId: string,
  ...actions: readonly AgentAction[]
): Promise<Run> {
  const before = all.agent.runs.length
  await does(all.ann, all.turns, begins(all.ann, turnId))
  const run = await all.agent.given(before)
  await says(all, run, ...actions)
  return run
}

/** Ends a turn, and waits until both clients have seen it. */
export async function ends({ ann, ben, turns }: OlderSession, run: Run): Promise<void> {
  run.end()
  for (const client of [ann, ben]) await client.until(() => client.state(turns)['activeTurn'] === undefined)
}

/** Waits until a client has everything that the host has sent before. */
export async function caughtUp(client: OlderClient): Promise<void> {
  await untilIdle()
  await client.ask('ping', {})
}

/** Lets the host send the changes of the session list that it has collected. */
export async function listTold({ world }: TestHost): Promise<void> {
  for (let n = 0; n < 3; n++, await untilIdle()) world.advance(100)
}

/** The envelopes of one type that a client has got. */
export function envelopesOf(client: OlderClient, type: string): readonly OlderEnvelope[] {
  return client.envelopes.filter(({ action }) => action.type === type)
}

/** The notifications of one kind about the session list, such as `sessionAdded`. At 0.1 without their envelope. */
export function told({ notes, version }: OlderClient, what: string): readonly Value[] {
  const wire = new Wire(version)
  return notes
    .map(({ method, params }) => wire.notice(method, params))
    .flatMap(({ method, params }) => (method === `root/${what}` ? [params] : []))
}

export async function listed(client: OlderClient): Promise<readonly Value[]> {
  return (await client.ask('listSessions', {}))['items'] as readonly Value[]
}

/** The URIs of the sessions in the list, sorted. */
export async function listedUris(client: OlderClient): Promise<readonly string[]> {
  return (await listed(client)).map(({ resource }) => String(resource)).toSorted()
}

/** The parts of the active turn, or else of the last one, at 0.1. */
export function partsOf(client: OlderClient, session: Uri): readonly Value[] {
  const { activeTurn, turns } = client.state(session) as { activeTurn?: Value; turns: readonly Value[] }
  return ((activeTurn ?? turns.at(-1) ?? {})['responseParts'] ?? []) as readonly Value[]
}

export const summaryOf = (client: OlderClient, session: Uri) => client.state(session)['summary'] as Value

/** The state that a client of this version shows before its action comes back. */
export function predicted({ version, state }: { version: Version; state: Value }, action: Action): Value {
  const { root, session } = oracle(version)
  // A reducer yields a state.
  return ('agents' in state ? root : session)(state, action, 0) as Value
}

/** The state of a channel in a snapshot that is made now. */
export async function fresh({ ben }: OlderSession, uri: Uri): Promise<Value> {
  const { snapshot } = (await ben.ask('subscribe', {}, uri)) as {
    readonly snapshot: { readonly state: Value }
  }
  return snapshot.state
}

/** A state of a session without the time of the last change, which each client stamps by its own clock. */
export function timeless(state: Value): Value {
  const { summary, ...rest } = state
  const { modifiedAt: _, ...kept } = summary as Value
  return { ...rest, summary: kept }
}

/** Expects that the state that Ann has made of a snapshot and of actions is the one that a new subscriber gets. */
export async function expectInStep(all: OlderSession): Promise<void> {
  await caughtUp(all.ann)
  const now = await fresh(all, all.session)
  expect(timeless(all.ann.state(all.session))).toEqual(timeless(now))
}
