import type { Uri } from '@atrium/protocol/channel'
import { primaryChat as primaryOf } from '@atrium/protocol/session/primary-chat'
import type { Core } from '../kernel/core.ts'
import { catalogOf } from './catalog.ts'

/**
 * Returns the primary chat of a session; undefined if there is none. Versions up to 0.3 have no chats: their clients
 * see the primary chat as the session itself, and another chat as a session whose name contains the chat's URI.
 */
export function primaryChat(core: Core, session: Uri): Uri | undefined {
  const summary = catalogOf(core).get(session)
  return summary && primaryOf(summary)
}
