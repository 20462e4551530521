import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri, sessionUri } from '@atrium/protocol/uri'
import { messageOf } from '../chat/composer/messages.ts'
import type { Draft } from '../chat/composer/messages.ts'
import { failedRequest, failureWords } from '../link/outcome-words.ts'
import type { ConfigValues } from './config-form.tsx'

/** A session that a person begins, with its first message. */
export interface NewSession {
  readonly provider: string
  readonly path: string
  readonly config: ConfigValues
  readonly draft: Draft
}

/**
 * Creates a session and sends its first message. Returns the URI of the session. If one of the two fails, throws an
 * error whose message tells a person which of them, and why.
 */
export async function createSession(
  client: Client,
  { provider, path, config, draft }: NewSession,
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
  const chat = defaultChatUri(channel)
  const begun = {
    type: 'chat/turnStarted',
    turnId: newId(),
    startedAt: new Date().toISOString(),
    message: messageOf(draft),
  }
  const outcome = await client.dispatch(chat, begun)
  if (outcome.outcome === 'accepted') return channel
  const unsent = 'The session was created, but its message was not sent'
  throw new Error(failureWords(outcome, unsent, 'the message was sent to the created session'))
}
