import { catalogOf } from '../../catalog/catalog.ts'
import { departuresOf } from '../../catalog/departures.ts'
import type { Uri } from '@atrium/protocol/channel'
import { unlessUnsound, wake } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { forgetSession, releaseAgent, wakeAll } from './session.ts'

/**
 * Ends the membership of a client that is away for longer than `toolGraceMs`. A follow-up fails its running calls, and its
 * tools and plugins leave its sessions with it. The host still expects the client back (`clientDeparted`).
 */
export function clientAbsent(core: Core, clientId: string): Promise<void> {
  const sessions = () => departuresOf(core).sessionsOf(clientId)
  return eachSession(core, clientId, { sessions, load: (uri) => wake(core, uri), end: deactivate })
}

/** Gives up a client that has not come back in time: its unused sessions are disposed of. */
export function clientDeparted(core: Core, clientId: string): Promise<void> {
  const sessions = () => departuresOf(core).giveUp(clientId)
  const load = (uri: Uri) =>
    catalogOf(core).creatorOf(uri) === clientId ? wakeAll(core, uri) : wake(core, uri)
  return eachSession(core, clientId, { sessions, load, end: giveUp })
}

function deactivate(core: Core, session: Channel<'session'>, clientId: string): void {
  if (session.head.activeClients.some((client) => client.clientId === clientId))
    core.log.append(session, { type: 'session/activeClientRemoved', clientId })
}

/**
 * Disposes of a session that its creator left unused, and tells the agent of any other session that the client is gone. A
 * session that was used while it was being loaded stays.
 */
function giveUp(core: Core, session: Channel<'session'>, clientId: string): void {
  const { uri } = session
  if (catalogOf(core).creatorOf(uri) === clientId) return void forgetSession(core, session)
  deactivate(core, session, clientId)
  departuresOf(core).leave(clientId, uri)
  releaseAgent(core, session)
}

interface Removal {
  sessions(): readonly Uri[]
  load(uri: Uri): Promise<Channel | undefined>
  end(core: Core, session: Channel<'session'>, clientId: string): void
}

async function eachSession(core: Core, clientId: string, { sessions, load, end }: Removal): Promise<void> {
  // A read-only host cannot append, so the departure is checked again later.
  if (core.readOnlyReason() !== undefined) return departuresOf(core).departed(clientId)
  for (const uri of sessions()) {
    const session = await load(uri).catch(unlessUnsound)
    // The client may have come back while the session was loaded.
    if (core.clients.links.has(clientId)) return
    if (session?.is('session') && core.log.channel(uri) === session) end(core, session, clientId)
  }
  core.log.scheduleFlush()
}
