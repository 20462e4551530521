import { catalogOf } from '../core/catalog.ts'
import { changesOf } from '../core/changes/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { sessionChangesetUri } from '@atrium/protocol/changeset/catalogue'
import { primaryChat as primaryOf } from '@atrium/protocol/session/primary-chat'
import type { Core } from '../kernel/core.ts'
import type { Generation } from './generation.ts'

/**
 * Returns the primary chat of a session; undefined if there is none. Versions up to 0.3 have no chats: their clients
 * see the primary chat as the session itself, and another chat as a session whose name contains the chat's URI.
 */
export function primaryChat(core: Core, session: Uri): Uri | undefined {
  const summary = catalogOf(core).get(session)
  return summary && primaryOf(summary)
}

const separator = '/chat/'

export function chatName(session: Uri, chat: Uri): Uri {
  return `${session}${separator}${encodeURIComponent(chat)}`
}

/** Returns the session and the chat in a name that `chatName` has made. Undefined for any other name. */
export function chatNamed(name: Uri): { readonly session: Uri; readonly chat: Uri } | undefined {
  const at = name.lastIndexOf(separator)
  if (at < 0) return undefined
  try {
    return { session: name.slice(0, at), chat: decodeURIComponent(name.slice(at + separator.length)) }
  } catch {
    // `chatName` has not made this name, because the chat in it is not percent-encoded.
    return undefined
  }
}

/**
 * The channels that a client sees as parts of a session: the primary chat up to 0.3, and at 0.1 also the changeset with all
 * changes of the session. None if the URI is not that of a session.
 */
export function includedIn(core: Core, { merged, nested }: Generation, session: Uri): readonly Uri[] {
  if (!merged || !catalogOf(core).get(session)) return []
  const chat = primaryChat(core, session)
  return [
    ...(chat === undefined ? [] : [chat]),
    ...(nested && changesOf(core) ? [sessionChangesetUri(session)] : []),
  ]
}
