import type { Subscriber } from '../kernel/link.ts'
import type { OpeningLink } from './opening.ts'
import type { Resends } from './resends.ts'

/** A connection, as the code for requests and notifications sees it. */
export interface ClientLink extends Subscriber, OpeningLink {
  readonly clientId: string
  readonly principal: string
  /** Whether the handshake is done. */
  readonly opened: boolean
  /**
   * Whether the connection has ended, or a newer connection of the client has replaced it. Unfinished work of the connection
   * must then have no effect.
   */
  readonly ended: boolean
  /** The earlier dispatches that the client may send again; undefined before the handshake is done. */
  readonly resends: Resends | undefined
  /** Undoes a handshake that failed. */
  abandonHandshake(): void
}
