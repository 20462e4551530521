import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { countSessions } from './root.ts'

/** A session is announced when it is first used: those that a client makes and leaves are nobody's business. */
export function announce(core: Core, session: Channel<'session'>): void {
  const { uri } = session
  const creator = core.catalog.creatorOf(uri)
  if (creator === undefined) return
  core.catalog.announce(uri)
  const { activeClients } = session.head
  if (!activeClients.some(({ clientId }) => clientId === creator)) core.departures.leave(creator, uri)
  void core.log.reached(countSessions(core)).then(() => {
    core.catalog.listCommitted(uri)
    core.sessionFeed.added(uri)
  })
}
