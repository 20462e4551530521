import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect } from 'vitest'
import type { AgentAction } from '../src/ports/agent.ts'
import { session, title } from './held-flushes.ts'
import { ScriptedAgent, until } from './scripted-agent.ts'
import type { Run } from './scripted-agent.ts'
import { testHost } from './test-host.ts'
import type { Client, TestHost, TestHostOptions } from './test-host.ts'

export type AnyAction = Action & Record<string, unknown>

export const chat = defaultChatUri(session)
export const startedAt = '2026-01-01T00:00:00.000Z'
export const message = (text = 'go', kind = 'user') => ({ text, origin: { kind } })
export const started = (turnId: string, text = 'go', more: object = {}): AnyAction => ({
  type: 'chat/turnStarted',
  turnId,
  startedAt,
  message: message(text),
  ...more,
})
export const cancelled = (turnId: string, duration = 1): AnyAction => ({
  type: 'chat/turnCancelled',
  turnId,
  duration,
})
export const resume = (turnId: string): AnyAction => ({ type: 'chat/turnResume', turnId })
export const truncated = (turnId?: string): AnyAction => ({
  type: 'chat/truncated',
  ...(turnId !== undefined && { turnId }),
})

export const part = (id: string): AgentAction => ({
  type: 'chat/responsePart',
  part: { kind: 'markdown', id, content: '' },
})
export const delta = (partId: string, content: string): AgentAction => ({
  type: 'chat/delta',
  partId,
  content,
})

/** A host with a scripted agent, and a session of Ann's. Ann and Ben are both subscribed to the session and to its chat. */
export interface TwoClientSession extends TestHost {
  readonly agent: ScriptedAgent
  readonly ann: Client
  readonly ben: Client
}

interface SceneOptions extends TestHostOptions {
  /** Whether to wait until the session is ready or has failed. */
  readonly waits?: boolean
}

export async function twoClientSession(
  agent = new ScriptedAgent(),
  { waits = true, ...options }: SceneOptions = {},
): Promise<TwoClientSession> {
  const all = await testHost({ ...options, agents: [agent] })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session, workingDirectories: ['file:///a'] })
  await subscribeTo(ann)
  const ben = await all.join('ben')
  await subscribeTo(ben)
  if (waits) await until(() => sessionOf(all).lifecycle !== 'creating')
  return { ...all, agent, ann, ben }
}

/** Starts a turn as Ann. The agent sends these actions in the turn. */
export async function turn(
  all: TwoClientSession,
  turnId: string,
  ...actions: readonly AgentAction[]
): Promise<Run> {
  const before = all.agent.runs.length
  await accepted(all.ann, chat, started(turnId))
  const run = await all.agent.given(before)
  await says(all, run, ...actions)
  return run
}

/** Sends actions of the agent and waits until they are committed. */
export async function says({ core }: TestHost, run: Run, ...actions: readonly AgentAction[]): Promise<void> {
  run.say(...actions)
  const channel = core().log.channel(run.chat.uri)
  await until(() => run.waits && channel?.head === channel?.committed)
}

export async function subscribeTo(client: Client, channels: readonly Uri[] = [session, chat]): Promise<void> {
  for (const channel of channels) await client.ask('subscribe', { channel })
}

/** Makes a client one of the session's active clients. It provides the tool `x`. */
export function becomeActive(client: Client): Promise<void> {
  const activeClient = { clientId: client.clientId, tools: [{ name: 'x' }] }
  return accepted(client, session, { type: 'session/activeClientSet', activeClient })
}

export async function accepted(client: Client, channel: Uri, action: AnyAction): Promise<void> {
  const { rejectionReason } = await client.echo(client.dispatch(channel, action))
  expect(rejectionReason).toBeUndefined()
}

export const chatOf = ({ core }: TestHost, uri = chat) => core().log.channel(uri)?.committed as ChatState
export const sessionOf = ({ core }: TestHost, uri = session) =>
  core().log.channel(uri)?.committed as SessionState

/**
 * Dispatches an action as Ann and returns the reason of its refusal. Expects that the state stays the same, that nobody else
 * gets a message, and that a later action is accepted.
 */
export async function refused(
  all: TwoClientSession,
  channel: Uri,
  action: AnyAction,
): Promise<string | undefined> {
  const { ann, ben, core } = all
  const before = core().log.channel(channel)?.committed
  const receivedBefore = ben.envelopes.length
  const { rejectionReason } = await ann.echo(ann.dispatch(channel, action))
  expect(core().log.channel(channel)?.committed).toBe(before)
  expect(core().log.channel(channel)?.head).toBe(before)
  const name = `after ${receivedBefore}`
  await accepted(ann, session, title(name))
  await ben.until(() => ben.envelopes.length > receivedBefore)
  expect(ben.envelopes[receivedBefore]?.action).toMatchObject({ title: name })
  return rejectionReason
}
