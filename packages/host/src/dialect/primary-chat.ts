import { catalogOf } from '../catalog/catalog.ts'
import { changesOf } from '../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { sessionChangesetUri } from '@atrium/protocol/changeset/catalogue'
import { primaryChat } from '../catalog/primary-chat.ts'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Core } from '../kernel/core.ts'
import type { Generation } from '../kernel/generation.ts'

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

/**
 * Adds the chat to the claim of a terminal. Before AHP 0.9 a claim names only a session. The claim is then for the
 * session's default chat, or else for its first chat.
 */
export function withClaimedChat(core: Core, params: { readonly claim?: unknown }): object {
  const { claim } = params
  if (typeof claim !== 'object' || claim === null || 'chat' in claim) return params
  const session = 'session' in claim && typeof claim.session === 'string' ? claim.session : undefined
  if (session === undefined) return params
  return {
    ...params,
    claim: { ...claim, chat: primaryChat(core, session) ?? defaultChatUri(session) },
  }
}
