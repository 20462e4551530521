import type { Uri } from '@atrium/protocol/channel'
import { boolean, id, object, oneOf, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'
import type { NotificationTarget } from '../../ports/notifier.ts'

const subscribePushParams = { channel: id, endpoint: string, p256dh: string, auth: string }
/** The params of `x-atrium/subscribePush`: the subscription of a browser, as the browser names its parts. */
export interface SubscribePushParams extends Infer<typeof subscribePushParams> {}
export const SubscribePushParams = object<SubscribePushParams>(
  'AtriumSubscribePushParams',
  subscribePushParams,
)

const unsubscribePushParams = { channel: id, endpoint: string }
/** The params of `x-atrium/unsubscribePush`. */
export interface UnsubscribePushParams extends Infer<typeof unsubscribePushParams> {}
export const UnsubscribePushParams = object<UnsubscribePushParams>(
  'AtriumUnsubscribePushParams',
  unsubscribePushParams,
)

const presenceParams = { channel: id, visible: boolean }
/** The params of `x-atrium/presence`: whether a person sees the page of this link. */
export interface PresenceParams extends Infer<typeof presenceParams> {}
export const PresenceParams = object<PresenceParams>('AtriumPresenceParams', presenceParams)

const addWebhookParams = { channel: id, url: string, kind: oneOf('AtriumWebhookKind', ['webhook', 'ntfy']) }
/** The params of `x-atrium/addWebhook`. */
export interface AddWebhookParams extends Infer<typeof addWebhookParams> {}
export const AddWebhookParams = object<AddWebhookParams>('AtriumAddWebhookParams', addWebhookParams)

const removeTargetParams = { channel: id, id }
/** The params of `x-atrium/removeNotificationTarget`. */
export interface RemoveTargetParams extends Infer<typeof removeTargetParams> {}
export const RemoveTargetParams = object<RemoveTargetParams>('AtriumRemoveTargetParams', removeTargetParams)

/** A target of notifications, as clients see it. Its address is a secret, so only its origin is shown. */
export interface ShownTarget {
  readonly id: string
  readonly kind: NotificationTarget['kind']
  readonly origin: string
  /** The name of the device whose browser has subscribed. */
  readonly device?: string
  /** ISO 8601. */
  readonly addedAt: string
}

/** Why people are notified. */
export type NoticeEvent = 'needs you' | 'ended' | 'missed' | 'test'

/** The record of a notification that was sent to a target, or that was not. */
export interface Notice {
  /** ISO 8601. */
  readonly at: string
  readonly event: NoticeEvent
  readonly session?: Uri
  /** The id of the target. */
  readonly target: string
  readonly outcome: 'sent' | 'suppressed' | 'failed'
  /** Why the notification was not sent. */
  readonly reason?: string
}

/** The result of `x-atrium/notifications`: the targets, and the records with the newest first. */
export interface NotificationsResult {
  readonly targets: readonly ShownTarget[]
  readonly notices: readonly Notice[]
}
