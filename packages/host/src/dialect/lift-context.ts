import { isBefore } from '@atrium/protocol/versions/negotiate'
import type { LiftContext } from '@atrium/protocol/versions/lens'
import type { Core, Link } from '../core/core.ts'
import { sessionOf } from '../core/lookup.ts'
import type { Channel } from '../log/channel.ts'
import { withDeferred } from '../session/selection.ts'

/** What the newer form of a dispatched action depends on. */
export function liftContext(core: Core, { clientId }: Link, channel: Channel): LiftContext {
  const now = core.world.now()
  return {
    viewer: clientId,
    get now() {
      return new Date(now).toISOString()
    },
    get turnDuration() {
      const startedAt = channel.is('chat') ? channel.head.activeTurn?.startedAt : undefined
      return startedAt === undefined ? 0 : Math.max(0, now - Date.parse(startedAt))
    },
    get session() {
      const session = channel.is('session') ? channel.head : sessionOf(core, channel.uri)?.head
      // A message that is sent during a turn waits for the end of the turn, as the choice of a model does.
      const waits = channel.is('chat') && channel.head.activeTurn !== undefined
      return session && waits ? withDeferred(session) : session
    },
    isSingle: (other) => {
      const version = core.clients.versionOf(other)
      return version !== undefined && isBefore(version, '0.5.0')
    },
  }
}
