import type { Client } from '@atrium/client'
import { defaultChatUri } from '@atrium/protocol/uri'

/** A session and its default chat. `fill` runs turns in this chat. */
export interface Filled {
  readonly session: string
  readonly chat: string
}

/** Creates a session of the built-in agent `guide`. It has no turns yet. */
export async function newSession(client: Client, name: string): Promise<Filled> {
  const session = `ahp-session:/${name}`
  await client.ask('createSession', { channel: session, provider: 'guide' })
  return { session, chat: defaultChatUri(session) }
}

/** Runs turns one after the other, until the last has ended. */
export async function fill(client: Client, { chat }: Filled, texts: readonly string[]): Promise<void> {
  const handle = client.subscribe('chat', chat, { view: { turns: 1 } })
  await handle.ready()
  for (const text of texts) {
    const turnId = `${chat.length}-${performance.now()}`
    const message = { text, origin: { kind: 'user' as const } }
    const startedAt = new Date().toISOString()
    const { outcome } = await handle.dispatch({ type: 'chat/turnStarted', turnId, startedAt, message })
    if (outcome !== 'accepted') throw new Error(`a turn was ${outcome}`)
    await handle.until(({ activeTurn }) => activeTurn === undefined)
  }
  handle.release()
}

/** Removes all turns of a chat. */
export async function clear(client: Client, { chat }: Filled): Promise<void> {
  const handle = client.subscribe('chat', chat, { view: { turns: 1 } })
  await handle.ready()
  await handle.dispatch({ type: 'chat/truncated' })
  handle.release()
}
