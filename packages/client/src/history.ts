import type { ChatState } from '@atrium/protocol/chat/state'
import type { Client } from './client.ts'
import type { Subscription } from './sync/handle.ts'

/**
 * Fetches older turns until the chat has at least `wanted` turns, or all of them. The pages arrive as actions of the
 * chat, so every handle on the chat gets them.
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
    // The response may come before the page, so wait until the cursor changes. If the chat is truncated meanwhile, the
    // number of turns changes instead.
    await chat.until((now) => now.turnsNextCursor !== cursor || now.turns.length !== turns.length)
  }
}
