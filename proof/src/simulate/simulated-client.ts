import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { SentRequest } from './checks/context.ts'
import type { Message } from '../message.ts'
import type { Link } from './link.ts'

/** The commands a plan can give to any kind of client. */
export interface SimulatedClient {
  readonly id: string
  readonly link: Link | undefined
  /** Whether the host has answered the handshake. */
  readonly open: boolean
  /** Whether the version of the client has actions that choose the model of a session (V9). */
  readonly choosesModels?: boolean
  ask(method: string, params: SentRequest['params'] & object, answered: (message: Message) => void): void
  dispatch(channel: Uri, action: Action): void
  create(session: Uri, active: boolean, directories?: readonly Uri[]): void
  subscribe(uri: Uri, maxLatencyMs?: number, turns?: number): void
}

/** A channel that a client follows, with the state that the client has. */
export interface Subscription {
  readonly kind: ChannelKind
  state: unknown
  /**
   * Whether the state may differ from the expected one until the next snapshot, because the version has no action for
   * a change (V10).
   */
  hasGap: boolean
}

/**
 * A message of the host, translated for the checks, which read AHP 1.0, and the state that the client must have after
 * it.
 */
export interface Heard {
  readonly heard: Message
  readonly expected: unknown
}
