import { catalogOf } from '../core/catalog.ts'
import { listChangesOf } from '../core/session-list/list-changes.ts'
import { sessionFeedOf } from '../core/session-feed.ts'
import { departuresOf } from '../core/departures.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../kernel/core.ts'
import { countSessions } from './root.ts'

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
