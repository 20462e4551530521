import type { NotificationMethod } from '@atrium/protocol/commands'
import type { Role } from '@atrium/protocol/root/device'
import type { Link } from './link.ts'

/** A channel without a state: its followers get notifications. Nothing of it is stored, and nothing is sent again. */
export interface StatelessChannel {
  /** The role that a device needs to follow it. */
  readonly role: Role
  /** The notification that it sends. A client whose version does not have it cannot follow the channel. */
  readonly sends: NotificationMethod
  follow(link: Link): void
  leave(link: Link): void
}
