import type { Uri } from '@atrium/protocol/channel'

/** A browser that has subscribed to Web Push: its endpoint, and the keys with which messages for it are encrypted. */
export interface PushTarget {
  readonly kind: 'webPush'
  readonly url: string
  /** The public key of the browser: an uncompressed point on P-256, in base64url. */
  readonly p256dh: string
  /** A secret of the browser of 16 bytes, in base64url. */
  readonly auth: string
}

/** A URL to which a notification is posted: as JSON for a webhook, or in the form of an ntfy server. */
export interface UrlTarget {
  readonly kind: 'webhook' | 'ntfy'
  readonly url: string
}

export type NotificationTarget = PushTarget | UrlTarget

/** What a notification says: a session or nothing, and a place in the page of the host. Nothing of any content. */
export interface Notification {
  readonly session: Uri
  /** A path with a fragment, such as `/#/session/abc`. */
  readonly link: string
}

/** What has become of a notification. `gone`: the target does not exist any more and will not come back. */
export type Delivery =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'gone' | 'failed'; readonly reason: string }

/** Sends notifications to people who do not look at a client. */
export interface Notifier {
  /** The key by which push services know this host: an uncompressed point on P-256, in base64url. */
  readonly publicKey: string
  /** Why nothing can or may be sent to a target. Undefined if it can be tried. */
  problemOf(target: NotificationTarget): string | undefined
  /** Sends a notification, once, within a bounded time. Never rejects. */
  send(target: NotificationTarget, notification: Notification): Promise<Delivery>
  /** Ends what is being sent. */
  close(): Promise<void>
}
