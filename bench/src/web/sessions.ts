import { Activity, activityOf } from '@atrium/protocol/status'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Client } from '../client.ts'

/** A session and its default chat. `fill` runs turns in this chat. */
export interface Filled {
  readonly session: string
  readonly chat: string
}

/** Creates a session of the built-in agent `guide`. It has no turns yet. */
export async function newSession(client: Client, name: string): Promise<Filled> {
  const session = `ahp-session:/${name}`
  const chat = defaultChatUri(session)
  await client.ask('createSession', { channel: session, provider: 'guide' })
  await client.subscribe(session)
  return { session, chat }
}

/** Runs turns one after the other, until the last has ended. */
export async function fill(
  client: Client,
  { session, chat }: Filled,
  texts: readonly string[],
): Promise<void> {
  for (const [at, text] of texts.entries()) {
    const turnId = `${chat.length}-${at}-${performance.now()}`
    const ended = new Promise<void>((resolve) => {
      // The entry of the chat in its session tells when the turn has ended. The chat itself would send every word.
      client.onEnvelope = ({ channel, action }) => {
        const { changes } = action as { readonly changes?: { readonly status?: number } }
        if (
          channel === session &&
          changes?.status !== undefined &&
          activityOf(changes.status) === Activity.Idle
        )
          resolve()
      }
    })
    const message = { text, origin: { kind: 'user' } }
    const startedAt = new Date().toISOString()
    const { rejectionReason } = await client.dispatch(chat, {
      type: 'chat/turnStarted',
      turnId,
      startedAt,
      message,
    } as never)
    if (rejectionReason !== undefined) throw new Error(`a turn was refused: ${rejectionReason}`)
    await ended
  }
}
