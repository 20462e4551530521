import type { NotificationMethod } from '@atrium/protocol/commands'
import type { JsonObject } from '@atrium/protocol/json'
import type { Role } from '@atrium/protocol/root/device'
import type { Link } from './link.ts'

/**
 * A channel without a state: its followers get notifications, or it answers requests that are no commands of AHP. Nothing of it is stored,
 * and nothing is sent again.
 */
export interface StatelessChannel {
  /** The role that a device needs to follow it, and for its requests. */
  readonly role: Role
  /** The notification that it sends, if it sends any. A client whose version does not have it cannot follow the channel. */
  readonly sends?: NotificationMethod
  follow(link: Link): void
  leave(link: Link): void
  /** Answers a request. `params`: those of the request, without the channel. Absent: it has no requests. */
  request?(method: string, params: JsonObject): Promise<unknown>
}
