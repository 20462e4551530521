import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { Problem, exits } from './problem.ts'

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

/** What people type instead of a URI: the beginning of what is behind its last slash. */
export function shortName(uri: string): string {
  return nameIn(uri).slice(0, 8)
}

/** A session by its URI, by the beginning of its name, or `last`. */
export async function findSession(client: Client, name: string): Promise<SessionSummary> {
  const all = await allSessions(client)
  const [newest] = all
  if (name === 'last' && newest) return newest
  const exact = all.find(({ resource }) => resource === name || nameIn(resource) === name)
  if (exact) return exact
  const alike = all.filter(({ resource }) => nameIn(resource).startsWith(name))
  const [only] = alike
  if (only && alike.length === 1) return only
  if (alike.length > 1)
    throw new Problem(
      `${alike.length} sessions begin with '${name}'; type more of the one you mean.`,
      exits.usage,
    )
  throw new Problem(`There is no session '${name}'; see them with: atrium ls`, exits.notFound)
}

function nameIn(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1)
}
