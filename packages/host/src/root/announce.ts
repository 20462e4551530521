import { departuresOf } from '../core/departures.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { countSessions } from './root.ts'

/** Lists a session for all clients: at its creation, or on its first use if its creator has made it in advance. */
export function announce(core: Core, session: Channel<'session'>): void {
  const { uri } = session
  const creator = core.catalog.creatorOf(uri)
  if (creator === undefined) return
  core.catalog.announce(uri)
  core.listChanges.added(uri, core.log.last)
  core.catalog.save(uri, session.head)
  const { activeClients } = session.head
  if (!activeClients.some(({ clientId }) => clientId === creator))
    departuresOf(core).leave(creator, uri)
  void core.log.reached(countSessions(core)).then(() => {
    core.catalog.listCommitted(uri)
    core.sessionFeed.added(uri)
  })
}
