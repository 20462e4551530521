import type { Uri } from '@atrium/protocol/channel'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import { chatUri } from '@atrium/protocol/uri'
import type { WrongLog } from './wrong-log.ts'
import type { InitialContent } from './wrong-moves.ts'

/** Creates a chat in a session. The caller must add the returned summary to the chats of the session. */
export function newChat(
  host: WrongLog,
  session: Uri,
  uri: Uri,
  { turns, origin }: InitialContent = { turns: [] },
): ChatSummary {
  const about = { resource: uri, title: '', status: 1, modifiedAt: new Date().toISOString() }
  const isDefault = uri === defaultChatOf(host, session)
  const movable = !isDefault && !host.has('chatsNotMovable') && { movable: true }
  const summary = { ...about, ...movable, ...(origin && { origin }) }
  const elsewhere = host.has('createdStateOfOtherChat') && !isDefault
  const resource = elsewhere ? defaultChatOf(host, session) : uri
  host.channels.set(uri, { kind: 'chat', state: { ...summary, resource, turns } })
  host.owners.set(uri, session)
  return summary
}

export function defaultChatOf(host: WrongLog, session: Uri): Uri {
  return host.has('chatsUnderSession') ? `ahp-chat://default/${encoded(session)}` : chatUri(session)
}

export function encoded(uri: Uri): string {
  return Buffer.from(uri).toString('base64url')
}
