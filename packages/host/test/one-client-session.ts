import type { Action } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import type { Agent } from '../src/ports/agent.ts'
import { untilIdle } from './held-flushes.ts'
import { testHost } from './test-host.ts'
import type { Client, TestHost, TestHostOptions } from './test-host.ts'

export const session = 'mock:/one'
export const chat = defaultChatUri(session)

/** A host with one agent, and Ann in a ready session with a subscription to its default chat. */
export async function oneClientSession(
  agent: Agent,
  options: TestHostOptions = {},
): Promise<{ all: TestHost; ann: Client }> {
  const all = await testHost({ agents: [agent], ...options })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  await ann.ask('createSession', { channel: session })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  await untilIdle()
  return { all, ann }
}

export function started(turnId: string, text = 'go'): Action & Record<string, unknown> {
  return { type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message: message(text) }
}

export function message(text: string): { text: string; origin: { kind: 'user' } } {
  return { text, origin: { kind: 'user' } }
}

export function chatOf(client: Client, uri = chat): ChatState {
  return client.state(uri) as unknown as ChatState
}

export function sessionOf(client: Client): SessionState {
  return client.state(session) as unknown as SessionState
}

/** Runs a turn and waits for its end, however it ends. */
export async function turn(client: Client, turnId: string, text?: string): Promise<void> {
  client.dispatch(chat, started(turnId, text))
  await client.until(() => chatOf(client).turns.some(({ id }) => id === turnId))
}
