import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { findTarget } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'

/** Finds all sessions before the first one is changed, so that a wrong name changes nothing. */
export async function findSessions(
  client: Client,
  names: readonly string[],
): Promise<readonly SessionSummary[]> {
  const found = new Map<string, SessionSummary>()
  for (const name of names) {
    const { session, chatOnly } = await findTarget(client, name)
    if (chatOnly) throw new CommandError(`'${name}' is a chat; name its session.`, exits.usage)
    found.set(session.resource, session)
  }
  return [...found.values()]
}
