import type { Uri } from '@atrium/protocol/channel'
import { primaryChat as primaryOf } from '@atrium/protocol/session/primary-chat'
import type { Core } from '../core/core.ts'

/**
 * Versions up to 0.3 have no chats. A client of these versions sees the primary chat of a session as the session itself, and
 * any other chat as a session of its own, whose name contains the URI of the chat.
 */
export function primaryChat({ catalog }: Core, session: Uri): Uri | undefined {
  const summary = catalog.get(session)
  return summary && primaryOf(summary)
}

const separator = '/chat/'

export function chatName(session: Uri, chat: Uri): Uri {
  return `${session}${separator}${encodeURIComponent(chat)}`
}

/** Returns the session and the chat in a name that `chatName` has made. */
export function chatNamed(name: Uri): { readonly session: Uri; readonly chat: Uri } | undefined {
  const at = name.lastIndexOf(separator)
  if (at < 0) return undefined
  try {
    return { session: name.slice(0, at), chat: decodeURIComponent(name.slice(at + separator.length)) }
  } catch {
    // The text is not percent-encoded as `chatName` does it.
    return undefined
  }
}

/** The primary chat of a session. None if the URI is not that of a session. */
export function chatsOf(core: Core, session: Uri): readonly Uri[] {
  const chat = primaryChat(core, session)
  return chat === undefined ? [] : [chat]
}
