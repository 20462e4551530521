import type { Uri } from '@atrium/protocol/channel'
import type { Client } from './client.ts'
import { openChat } from './conversation.ts'
import type { Kit } from './kit.ts'

/** Creates a session that the host must list and announce. */
export async function createInUse(kit: Kit, by: Client): Promise<Uri> {
  const session = await kit.create(by)
  await use(kit, by, session)
  return session
}

/**
 * Changes the title of a session, and runs a turn if needed, so that the host lists the session. A host may leave a
 * session out of its list until its first change, or until its first turn.
 */
export async function use(kit: Kit, by: Client, session: Uri): Promise<void> {
  await by.subscribe(session)
  await by.retitle(session)
  if (kit.habits.listedAtFirstTurn) await (await openChat(kit, session)).runTurn()
}
