import type { Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'

/** The members of states, actions, params and results that name sessions and chats. */
const uriMembers: ReadonlySet<string> = new Set([
  'after',
  'channel',
  'chat',
  'chats',
  'defaultChat',
  'resource',
  'session',
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
 * Replaces the URIs in one member. The member names one channel or several, or has another meaning, such as a list of
 * summaries.
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

/** The members of a session that decide which chat the names for its default chat mean. */
export interface WithChats {
  readonly defaultChat?: Uri | undefined
  readonly chats?: readonly { readonly resource: Uri }[] | undefined
}

/**
 * A client can compute a name for a chat from the name of the session. Returns the chat that such a name means: the chat that
 * was created with the session, as long as it exists. A name must not mean another chat when the default chat changes, because
 * clients resume a subscription by its name.
 */
export function firstChat(session: Uri, { defaultChat, chats = [] }: WithChats): Uri | undefined {
  const first = defaultChatUri(session)
  return chats.some(({ resource }) => resource === first) ? first : defaultChat
}

/** Whether a JSON text may name a session with an alias. Few texts do, so most need not be parsed. */
export function mayNameSession(text: string): boolean {
  return text.includes('"ahp-session:/') || text.includes('"ahp-chat://default/')
}
