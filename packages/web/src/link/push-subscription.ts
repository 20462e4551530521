import type { Client } from '@atrium/client/client'
import { rootUri } from '@atrium/protocol/uri'
import { askExtension } from './extension.ts'

/**
 * Whether this browser can get notifications. A page without TLS cannot, and on iOS a page can only after a person
 * has installed it.
 */
export function canSubscribe(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis
}

/** The subscription of this browser. Undefined if a person has not turned notifications on. */
export async function presentSubscription(): Promise<PushSubscription | undefined> {
  const registration = await navigator.serviceWorker.getRegistration()
  return (await registration?.pushManager.getSubscription()) ?? undefined
}

/** Asks the person and the browser for notifications, and tells the host where to send them. */
export async function subscribe(client: Client): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('this browser does not allow them for this page; allow them in its settings')
  // The answer is not checked: host and page are built together.
  const { publicKey } = (await askExtension(client, 'x-atrium/pushKey', { channel: rootUri })) as {
    readonly publicKey: string
  }
  const registration = await navigator.serviceWorker.ready
  const subscription = await registration.pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
    .catch((error: unknown) => {
      throw new Error(`this browser could not subscribe to its push service (${String(error)})`)
    })
  await announce(client, subscription)
}

/**
 * Tells the host about a subscription. The host keeps one subscription for each address, so the same one may be told
 * again.
 */
export async function announce(client: Client, subscription: PushSubscription): Promise<void> {
  const { endpoint, keys } = subscription.toJSON()
  await askExtension(client, 'x-atrium/subscribePush', {
    channel: rootUri,
    endpoint,
    p256dh: keys?.['p256dh'],
    auth: keys?.['auth'],
  })
}

export async function unsubscribe(client: Client): Promise<void> {
  const subscription = await presentSubscription()
  if (!subscription) return
  await subscription.unsubscribe()
  await askExtension(client, 'x-atrium/unsubscribePush', {
    channel: rootUri,
    endpoint: subscription.endpoint,
  })
}
