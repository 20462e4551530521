import { catalogOf } from '../catalog/catalog.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { sessionOfAnnotations } from '@atrium/protocol/uri'
import type { LiftContext } from '@atrium/protocol/versions/lens'
import type { Core } from '../kernel/core.ts'
import type { Link } from '../kernel/link.ts'
import type { Channel } from '../kernel/log/channel.ts'
import { defineKey } from '../kernel/key.ts'
import { generationOf } from '../kernel/generation.ts'

/** The choices of a model and an agent that clients up to 0.4 make for a session. */
interface Choices {
  /** Returns a state to which the choices that wait for the end of the turn are applied. */
  applied(state: SessionState): SessionState
}

export const choicesOf = defineKey<Choices>('session')

/** What the translation of a dispatched action into the host's own protocol version depends on. */
export function liftContext(core: Core, { clientId }: Link, channel: Channel, action: Action): LiftContext {
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
      const session = core.log.channel(sessionUri(core, channel, action) ?? '', 'session')?.head
      // A message that is sent during a turn is handled after the turn. By then the deferred choices of model and agent are
      // applied, so the message gets these choices.
      const waits = channel.is('chat') && channel.head.activeTurn !== undefined
      return session && waits ? choicesOf(core).applied(session) : session
    },
    get sessionUri() {
      return sessionUri(core, channel, action)
    },
    isSingle: (other) => {
      const version = core.clients.versionOf(other)
      return version !== undefined && generationOf(version).single
    },
  }
}

/** The session that a channel belongs to, or, for a terminal, the session that the action's claim names. */
function sessionUri(core: Core, { uri, kindName }: Channel, action: ClaimAction): Uri | undefined {
  if (kindName === 'session') return uri
  if (kindName === 'annotations') return sessionOfAnnotations(uri)
  const claimed = action.claim?.session
  return catalogOf(core).sessionOf(uri) ?? (typeof claimed === 'string' ? claimed : undefined)
}

interface ClaimAction extends Action {
  readonly claim?: { readonly session?: unknown }
}
