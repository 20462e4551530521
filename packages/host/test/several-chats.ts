import type { Uri } from '@atrium/protocol/channel'
import type { ChatSource } from '@atrium/protocol/chat/commands'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Agent } from '../src/ports/agent.ts'
import { readyAgent } from './agents.ts'
import type { Client } from './test-host.ts'
import { chat, session, started } from './one-client-session.ts'

/** An agent whose sessions may have several chats, including forks and side chats. */
export function severalChats(agent: Agent = readyAgent()): Agent {
  const capabilities = { multipleChats: { fork: true, sideChat: true } }
  return { ...agent, info: { ...agent.info, capabilities } }
}

export const forkAt = (turnId: string, from: Uri = chat): ChatSource => ({ kind: 'fork', chat: from, turnId })

export function fork(client: Client, to: Uri, turnId: string, from: Uri = chat): Promise<null> {
  return client.ask('createChat', { channel: session, chat: to, source: forkAt(turnId, from) })
}

/** Returns the state of a chat from a new snapshot. */
export async function read(client: Client, channel: Uri): Promise<ChatState> {
  const { snapshot } = await client.ask('subscribe', { channel })
  return snapshot?.state as ChatState
}

export const idsOf = ({ turns }: ChatState): readonly string[] => turns.map(({ id }) => id)

/** Runs turns in a chat that the client follows, one after the other. */
export async function turnsIn(client: Client, channel: Uri, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    client.dispatch(channel, started(id, `say ${id}`))
    await client.until(() =>
      (client.state(channel) as unknown as ChatState).turns.some((turn) => turn.id === id),
    )
  }
}
