import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { ModelSelection } from '@atrium/protocol/chat/message'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri, sessionUri } from '@atrium/protocol/uri'
import type { ConfigValues } from './config-form.tsx'

export interface NewSession {
  readonly provider: string
  readonly path: string
  readonly config: ConfigValues
  readonly model: ModelSelection | undefined
  /** The first message. Empty: the session waits for it. */
  readonly text: string
}

/** Creates a session and sends its first message. Returns the URI of the session; throws the host's reason. */
export async function createSession(
  client: Client,
  { provider, path, config, model, text }: NewSession,
): Promise<string> {
  const channel = sessionUri(newId())
  await client.ask('createSession', {
    channel,
    provider,
    ...(path !== '' && { workingDirectories: [fileUri(path)] }),
    ...(Object.keys(config).length > 0 && { config }),
  })
  if (text.trim() === '') return channel
  const chat = defaultChatUri(channel)
  const message = { text, origin: { kind: 'user' }, ...(model && { model }) }
  const begun = { type: 'chat/turnStarted', turnId: newId(), startedAt: new Date().toISOString(), message }
  const outcome = await client.dispatch(chat, begun)
  if (outcome.outcome !== 'accepted') throw new Error(outcome.reason)
  return channel
}
