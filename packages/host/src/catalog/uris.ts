import type { Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'

/** The members of states, actions, params and results that name sessions and chats. */
const uriMembers: ReadonlySet<string> = new Set([
  'after',
  'channel',
  'chat',
  'chats',
  'defaultChat',
  'primarySession',
  'resource',
  'session',
  'sessions',
])

/** Replaces the URIs of sessions and chats in a JSON value. Returns the value itself if nothing is replaced. */
export function mapUris(value: unknown, replaced: (uri: Uri) => Uri): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => mapUris(item, replaced))
  if (typeof value !== 'object' || value === null) return value
  let copy: Record<string, unknown> | undefined
  for (const [key, member] of Object.entries(value)) {
    const mapped = uriMembers.has(key) ? mapMember(member, replaced) : mapUris(member, replaced)
    if (mapped !== member) (copy ??= { ...value })[key] = mapped
  }
  return copy ?? value
}

/**
 * Replaces the URIs in a member that `uriMembers` names. Its value is a URI, a list of URIs, or another value, such
 * as a list of summaries, in which URIs are replaced by `mapUris`.
 */
function mapMember(member: unknown, replaced: (uri: Uri) => Uri): unknown {
  if (typeof member === 'string') return replaced(member)
  if (!Array.isArray(member)) return mapUris(member, replaced)
  return mapItems(member, (item) => (typeof item === 'string' ? replaced(item) : mapUris(item, replaced)))
}

function mapItems(items: readonly unknown[], mapped: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [at, item] of items.entries()) {
    const result = mapped(item)
    if (result !== item) (copy ??= [...items])[at] = result
  }
  return copy ?? items
}

/** The members of a session from which `firstChat` finds a chat. */
export interface WithChats {
  readonly defaultChat?: Uri | undefined
  readonly chats?: readonly { readonly resource: Uri }[] | undefined
}

/**
 * Returns the chat that a client means by the URI of a default chat, which the client has computed from the URI of
 * the session. It is the chat that was created with the session, or the present default chat if that chat is gone.
 * The URI must not mean another chat when the default chat changes, because clients resume a subscription by its URI.
 */
export function firstChat(session: Uri, { defaultChat, chats = [] }: WithChats): Uri | undefined {
  const first = defaultChatUri(session)
  return chats.some(({ resource }) => resource === first) ? first : defaultChat
}

/** Whether a JSON text may name a session with an alias. Few texts do, so most need not be parsed. */
export function mayNameSession(text: string): boolean {
  return text.includes('"ahp-session:/') || text.includes('"ahp-chat://default/')
}
