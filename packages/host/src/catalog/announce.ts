import { catalogOf } from './catalog.ts'
import { listChangesOf } from './session-list/list-changes.ts'
import { sessionFeedOf } from './session-feed.ts'
import { departuresOf } from './departures.ts'
import type { RootAction } from '@atrium/protocol/root/actions'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'

/** Lists a session for all clients: at its creation, or on its first use if its creator has made it in advance. */
export function announce(core: Core, session: Channel<'session'>): void {
  const { uri } = session
  const creator = catalogOf(core).creatorOf(uri)
  if (creator === undefined) return
  catalogOf(core).announce(uri)
  listChangesOf(core).added(uri, core.log.last)
  catalogOf(core).save(uri, session.head)
  const { activeClients } = session.head
  if (!activeClients.some(({ clientId }) => clientId === creator)) departuresOf(core).leave(creator, uri)
  void core.log.reached(countSessions(core)).then(() => {
    catalogOf(core).listCommitted(uri)
    sessionFeedOf(core).added(uri)
  })
}

/**
 * Publishes the number of sessions in the session list, in the step that changes it. Returns the sequence number of
 * the action.
 */
export function countSessions(core: Core): number {
  const root = core.log.channel(rootUri, 'root')
  const action: RootAction = { type: 'root/activeSessionsChanged', activeSessions: catalogOf(core).announced }
  return root ? core.log.append(root, action).last : core.log.last
}
