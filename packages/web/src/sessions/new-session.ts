import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { ModelSelection } from '@atrium/protocol/chat/message'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri, sessionUri } from '@atrium/protocol/uri'
import { failedRequest, failureWords } from '../link/outcome-words.ts'
import type { ConfigValues } from './config-form.tsx'

export interface NewSession {
  readonly provider: string
  readonly path: string
  readonly config: ConfigValues
  readonly model: ModelSelection | undefined
  /** The first message. Empty: the session waits for it. */
  readonly text: string
}

/**
 * Creates a session and sends its first message. Returns the URI of the session. If one of the two fails, throws an
 * error whose message tells a person which of them, and why.
 */
export async function createSession(
  client: Client,
  { provider, path, config, model, text }: NewSession,
): Promise<string> {
  const channel = sessionUri(newId())
  const params = {
    channel,
    provider,
    ...(path !== '' && { workingDirectories: [fileUri(path)] }),
    ...(Object.keys(config).length > 0 && { config }),
  }
  await client.ask('createSession', params).catch((error: unknown) => {
    const failure = failedRequest(error)
    const words = failureWords(failure, 'The session was not created', 'the session was created')
    throw new Error(words, { cause: error })
  })
  if (text.trim() === '') return channel
  const chat = defaultChatUri(channel)
  const message = { text, origin: { kind: 'user' }, ...(model && { model }) }
  const begun = { type: 'chat/turnStarted', turnId: newId(), startedAt: new Date().toISOString(), message }
  const outcome = await client.dispatch(chat, begun)
  if (outcome.outcome === 'accepted') return channel
  const unsent = 'The session was created, but its message was not sent'
  throw new Error(failureWords(outcome, unsent, 'the message was sent to the created session'))
}
