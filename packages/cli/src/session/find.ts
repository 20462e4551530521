import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { Problem, exits } from '../terminal/exit.ts'

/** Every session, those that changed last first. */
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

/** Looks into each of some sessions, a few at a time: a link follows only so many, and there may be thousands. */
export async function lookInto(
  client: Client,
  sessions: readonly SessionSummary[],
  look: (state: SessionState, session: Uri) => void,
): Promise<void> {
  const one = async ({ resource }: SessionSummary) => {
    const followed = client.subscribe('session', resource)
    try {
      look(await followed.ready(), resource)
    } catch {
      // It was disposed of meanwhile.
    } finally {
      followed.release()
    }
  }
  for (let at = 0; at < sessions.length; at += 64) await Promise.all(sessions.slice(at, at + 64).map(one))
}

/** Work in a session, for as long as that is there: in one that is disposed of nobody answers any more. */
export async function whileThere<T>(client: Client, session: Uri, work: () => Promise<T>): Promise<T> {
  const removed = new Promise<never>((_, reject) => {
    const problem = new Problem('The session was removed in the middle of this.', exits.notFound)
    client.on('root/sessionRemoved', (gone) => void (gone.session === session && reject(problem)))
  })
  removed.catch(() => {})
  // Who follows the root is told.
  await client.subscribe('root', rootUri).ready()
  return Promise.race([work(), removed])
}

/** What people type instead of a URI: the beginning of what is behind its last slash. */
export function shortName(uri: string): string {
  return nameIn(uri).slice(0, 8)
}

/** The same for a list: so much of each name that it means no other. */
export function shortNames(uris: readonly string[]): ReadonlyMap<string, string> {
  const sorted = uris
    .map((uri) => ({ uri, name: nameIn(uri) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return new Map(
    sorted.map(({ uri, name }, at) => {
      const beside = [sorted[at - 1]?.name ?? '', sorted[at + 1]?.name ?? '']
      const shared = Math.max(...beside.map((other) => sharedBy(name, other)))
      return [uri, name.slice(0, Math.max(8, shared + 1))]
    }),
  )
}

function sharedBy(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** A session by its URI, by the beginning of its name, or `last`. */
export async function findSession(client: Client, name: string): Promise<SessionSummary> {
  return (await findAddressee(client, name)).session
}

/** Where something is said: a session as a whole, which means its default chat, or one of its chats. */
export interface Addressee {
  readonly session: SessionSummary
  readonly chat: Uri
  /** It was the chat that was named. */
  readonly narrow: boolean
}

/** A session, or where none is called so a chat of one: by its URI, by the beginning of its name, or `last`. */
export async function findAddressee(client: Client, name: string): Promise<Addressee> {
  const all = await allSessions(client)
  const [newest] = all
  if (name === 'last' && newest) return wholeOf(newest)
  const sessions = all.map(wholeOf)
  return (
    chosen(sessions, ({ session }) => session.resource, name) ??
    chosen(all.flatMap(chatsOf), ({ chat }) => chat, name) ??
    missing(name)
  )
}

/** The one that is called so, or the only one whose name begins so. */
function chosen(
  all: readonly Addressee[],
  uriOf: (one: Addressee) => Uri,
  name: string,
): Addressee | undefined {
  const exact = all.find((one) => uriOf(one) === name || nameIn(uriOf(one)) === name)
  if (exact || name === '') return exact
  const alike = all.filter((one) => nameIn(uriOf(one)).startsWith(name))
  if (alike.length > 1)
    throw new Problem(
      `${alike.length} ${alike[0]?.narrow ? 'chats' : 'sessions'} begin with '${name}'; type more of the one you mean.`,
      exits.usage,
    )
  return alike[0]
}

function missing(name: string): never {
  throw new Problem(`There is no session '${name}'; see them with: atrium ls`, exits.notFound)
}

function wholeOf(session: SessionSummary): Addressee {
  return { session, chat: session.defaultChat ?? defaultChatUri(session.resource), narrow: false }
}

function chatsOf(session: SessionSummary): readonly Addressee[] {
  return (session.chats ?? []).map(({ resource }) => ({ session, chat: resource, narrow: true }))
}

function nameIn(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1)
}
