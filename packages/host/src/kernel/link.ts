import type { Uri } from '@atrium/protocol/channel'
import type { AhpError } from '@atrium/protocol/errors'
import type { JsonResult } from '@atrium/protocol/rpc/peer'
import type { Device } from '@atrium/protocol/root/device'
import type { Channel } from './log/channel.ts'
import type { Listener } from './log/entry.ts'

/** One client's link to the host, as the rest of the core sees it. */
export interface Link extends Listener {
  readonly clientId: string
  readonly principal: string
  /** The device whose credential the client has used. Undefined if it has used the token of the host. */
  readonly device?: Device | undefined
  close(code: number, reason: string): void
  /** Sends a request to the client. */
  ask?(method: string, params: object): Promise<unknown>
}

/** The part of a channel that a subscriber asks for: the number of newest turns. */
export interface View {
  readonly turns?: number
}

/** A link that can subscribe to channels. */
export interface Subscriber extends Link {
  /**
   * Follows a stateless channel. Returns false if the URI is not that of such a channel, and an error if the client cannot follow it.
   */
  follow(uri: Uri): boolean | AhpError
  /** Throws if the connection already has the maximum number of subscriptions. */
  checkRoom(uri: Uri): void
  /** Whether a client of this protocol version can address the channel by this name. */
  reaches(channel: Channel, name: Uri): boolean
  /** The other channels that a subscription to a channel includes in the client's protocol version. */
  includedWith(uri: Uri): readonly Uri[]
  /** Subscribes to a channel under the name that the client uses. Returns the snapshot as JSON. */
  subscribe(channel: Channel, name: Uri, view?: View, latency?: number): string
  /** Makes a response from JSON text. The response is sent before everything that is delivered after this call. */
  answer(text: string): JsonResult
}

/** Who is behind a link. `device` is undefined if the token of the host was used. */
export type Identity = Pick<Link, 'principal' | 'device'>

export function sameIdentity(one: Identity, other: Identity): boolean {
  return one.principal === other.principal && one.device?.id === other.device?.id
}
