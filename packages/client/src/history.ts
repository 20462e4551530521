import type { ChatState } from '@atrium/protocol/chat/state'
import type { Client } from './client.ts'
import type { Subscription } from './sync/handle.ts'

/**
 * A chat with at least so many of its turns, or with all that there are. Pages come as actions of the chat, so that
 * whoever looks at it sees them too.
 */
export async function withTurns(
  client: Client,
  chat: Subscription<'chat'>,
  wanted = Infinity,
): Promise<ChatState> {
  for (;;) {
    const state = await chat.ready()
    const { turns, turnsNextCursor: cursor } = state
    if (cursor === undefined || turns.length >= wanted) return state
    await client.ask('fetchTurns', { channel: chat.uri, cursor })
    // A host may answer before it tells; and a chat that was cut meanwhile has other turns.
    await chat.until((now) => now.turnsNextCursor !== cursor || now.turns.length !== turns.length)
  }
}
