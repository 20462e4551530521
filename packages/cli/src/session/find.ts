import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { CommandError, exits } from '../terminal/exit.ts'

/** Returns all sessions, the last modified first. */
export async function allSessions(client: Client): Promise<readonly SessionSummary[]> {
  const items: SessionSummary[] = []
  let cursor: string | undefined
  do {
    const page = await client.ask('listSessions', cursor === undefined ? {} : { cursor })
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items.toSorted((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1))
}

/**
 * Calls `read` with the state of each session. Reads 64 sessions at a time, because a connection may have only a limited
 * number of subscriptions.
 */
export async function readSessions(
  client: Client,
  sessions: readonly SessionSummary[],
  read: (state: SessionState, session: Uri) => void,
): Promise<void> {
  const readOne = async ({ resource }: SessionSummary) => {
    const session = client.subscribe('session', resource)
    try {
      read(await session.ready(), resource)
    } catch {
      // The session is left out: most likely it was disposed meanwhile.
    } finally {
      session.release()
    }
  }
  for (let at = 0; at < sessions.length; at += 64) await Promise.all(sessions.slice(at, at + 64).map(readOne))
}

/**
 * Runs `work`, and rejects as soon as the session is disposed: otherwise work that waits for the session would never end.
 */
export async function whileSessionExists<T>(
  client: Client,
  session: Uri,
  work: () => Promise<T>,
): Promise<T> {
  const removed = new Promise<never>((_, reject) => {
    const error = new CommandError('The session was removed in the middle of this.', exits.notFound)
    client.on('root/sessionRemoved', (gone) => void (gone.session === session && reject(error)))
  })
  removed.catch(() => {})
  // The notification of a removed session comes on the root channel.
  await client.subscribe('root', rootUri).ready()
  return Promise.race([work(), removed])
}

/** Returns the short name of a session or a chat: the first eight characters behind the last slash of its URI. */
export function shortName(uri: string): string {
  return nameIn(uri).slice(0, 8)
}

/** Returns short names that are unique in the list: eight characters, or more if names begin alike. */
export function shortNames(uris: readonly string[]): ReadonlyMap<string, string> {
  const sorted = uris
    .map((uri) => ({ uri, name: nameIn(uri) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return new Map(
    sorted.map(({ uri, name }, at) => {
      const neighbours = [sorted[at - 1]?.name ?? '', sorted[at + 1]?.name ?? '']
      const shared = Math.max(...neighbours.map((other) => sharedPrefix(name, other)))
      return [uri, name.slice(0, Math.max(8, shared + 1))]
    }),
  )
}

function sharedPrefix(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** Finds a session by its URI, by the beginning of its name, or as `last`. */
export async function findSession(client: Client, name: string): Promise<SessionSummary> {
  return (await findTarget(client, name)).session
}

/**
 * Finds sessions by their names. Finds all of them before the caller changes the first one, so that a wrong name changes
 * nothing. A chat is refused: its session may have other chats.
 */
export async function findSessions(
  client: Client,
  names: readonly string[],
): Promise<readonly SessionSummary[]> {
  const found = new Map<Uri, SessionSummary>()
  for (const name of names) {
    const { session, chatOnly } = await findTarget(client, name)
    if (chatOnly) throw new CommandError(`'${name}' is a chat; name its session.`, exits.usage)
    found.set(session.resource, session)
  }
  return [...found.values()]
}

/** The target of a command: a session with its default chat, or one chat of a session. */
export interface Target {
  readonly session: SessionSummary
  readonly chat: Uri
  /** Whether the user named the chat, and not the session. */
  readonly chatOnly: boolean
}

/** Finds a session, or else a chat: by its URI, by the beginning of its name, or as `last`. */
export async function findTarget(client: Client, name: string): Promise<Target> {
  const all = await allSessions(client)
  const [newest] = all
  if (name === 'last' && newest) return sessionTarget(newest)
  const sessions = all.map(sessionTarget)
  return (
    matching(sessions, ({ session }) => session.resource, name) ??
    matching(all.flatMap(chatTargets), ({ chat }) => chat, name) ??
    notFound(name)
  )
}

/** Returns the target with exactly this name, or the only one whose name begins with it. */
function matching(all: readonly Target[], uriOf: (target: Target) => Uri, name: string): Target | undefined {
  const exact = all.find((each) => uriOf(each) === name || nameIn(uriOf(each)) === name)
  if (exact || name === '') return exact
  const candidates = all.filter((each) => nameIn(uriOf(each)).startsWith(name))
  if (candidates.length > 1)
    throw new CommandError(
      `${candidates.length} ${candidates[0]?.chatOnly ? 'chats' : 'sessions'} begin with '${name}'; type more of the one you mean.`,
      exits.usage,
    )
  return candidates[0]
}

function notFound(name: string): never {
  throw new CommandError(`There is no session '${name}'; see them with: atrium ls`, exits.notFound)
}

function sessionTarget(session: SessionSummary): Target {
  return { session, chat: primaryChat(session) ?? defaultChatUri(session.resource), chatOnly: false }
}

function chatTargets(session: SessionSummary): readonly Target[] {
  return (session.chats ?? []).map(({ resource }) => ({ session, chat: resource, chatOnly: true }))
}

function nameIn(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1)
}
