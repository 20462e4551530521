import type { Action } from '@atrium/protocol/channel'
import type { Device } from '@atrium/protocol/root/device'
import type { Channel } from '../../kernel/log/channel.ts'
import type {
  AddWebhookParams,
  NotificationsResult,
  Notice,
  PresenceParams,
  RemoveTargetParams,
  ShownTarget,
  SubscribePushParams,
  UnsubscribePushParams,
} from './extensions.ts'

/** A link, as notifications see it. */
export interface PresentLink {
  readonly device?: Device | undefined
}

/** The notifications of the host, as the other parts of the core use them. */
export interface Notifying {
  readonly publicKey: string
  /** Finds out, after a committed action, whether people must be notified about the session. */
  committed(channel: Channel, action: Action): void
  /** Notes what automations have missed before the host was started. */
  started(): void
  /** Notes whether a person sees the page of a link. */
  present(link: PresentLink, params: PresenceParams): void
  subscribe(link: PresentLink, params: SubscribePushParams): Promise<ShownTarget>
  unsubscribe(link: PresentLink, params: UnsubscribePushParams): Promise<void>
  addWebhook(params: AddWebhookParams): Promise<ShownTarget>
  remove(params: RemoveTargetParams): Promise<void>
  list(): NotificationsResult
  /** Sends a notification to every target, and returns what has become of each. */
  test(): Promise<readonly Notice[]>
  close(): Promise<void>
}
