import type { ChatState } from '@atrium/protocol/chat/state'
import type { Client } from './client.ts'
import type { Subscription } from './sync/handle.ts'

/**
 * Fetches older turns of a chat until it has at least `wanted`, or all. Pages arrive as actions of the chat, so that other
 * handles on it get them too.
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
    // The response may come before the page. A truncation meanwhile changes the number of turns instead.
    await chat.until((now) => now.turnsNextCursor !== cursor || now.turns.length !== turns.length)
  }
}
