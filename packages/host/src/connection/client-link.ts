import type { Subscriber } from './commands.ts'
import type { OpeningLink } from './opening.ts'
import type { Resends } from './resends.ts'

/** A connection as its requests and notifications see it. */
export interface ClientLink extends Subscriber, OpeningLink {
  readonly clientId: string
  readonly principal: string
  /** Whether the handshake is done. */
  readonly opened: boolean
  /** Whether the connection has ended, or another one has taken its place. Work that it began has no effect then. */
  readonly ended: boolean
  /** The dispatches that the client may repeat; undefined before the handshake is done. */
  readonly resends: Resends | undefined
  /** Undoes a handshake that failed. */
  abandonHandshake(): void
}
