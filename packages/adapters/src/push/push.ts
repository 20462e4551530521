import { createHash } from 'node:crypto'
import { limits } from '@atrium/protocol/limits'
import type { Delivery, Notification, NotificationTarget, Notifier } from '@atrium/host/ports/notifier'
import { endpointProblem, post } from './post.ts'
import type { Lookup, Message } from './post.ts'
import { keyProblem, pushMessage } from './encrypted-message.ts'
import type { VapidKey } from './vapid.ts'

export { vapidKeyOf } from './vapid.ts'

export interface NotifierOptions {
  readonly key: VapidKey
  /** Origins that may use http, and need not be public. The user names them in the config file of the host. */
  readonly allowed?: readonly string[] | undefined
  /** Whom a push service tells about problems: a `mailto:` or `https:` address. */
  readonly contact?: string | undefined
  /** Returns the address of the host's page. In messages to webhooks and ntfy servers it stands before the link. */
  readonly page?: () => string | undefined
  readonly timeoutMs?: number
  readonly now?: () => number
  /** Resolves host names. Tests give another one. */
  readonly lookup?: Lookup
}

/** The longest time that a push service keeps a message for a browser that is off, in seconds. */
const keptSeconds = 86_400

/** Sends notifications by Web Push, to webhooks and to ntfy servers. */
export function notifier(options: NotifierOptions): Notifier {
  const { key, allowed = [], timeoutMs = limits.pushMs, lookup } = options
  const ended = new AbortController()
  const problemOf = (target: NotificationTarget) =>
    endpointProblem(target.url, allowed) ?? (target.kind === 'webPush' ? keyProblem(target) : undefined)
  return {
    publicKey: key.publicKey,
    problemOf,
    async send(target, notification): Promise<Delivery> {
      const problem = ended.signal.aborted ? 'the host is ending' : problemOf(target)
      if (problem !== undefined) return { outcome: 'failed', reason: problem }
      const url = new URL(target.url)
      const attempt = new AbortController()
      const end = () => attempt.abort()
      const timer = setTimeout(end, timeoutMs)
      ended.signal.addEventListener('abort', end)
      const isAllowed = allowed.includes(url.origin)
      try {
        const status = await post(url, messageFor(target, notification, options), {
          signal: attempt.signal,
          isAllowed,
          lookup,
        })
        if (status >= 200 && status < 300) return { outcome: 'sent' }
        const reason = `${url.host} answered with ${status}${status === 403 ? contactHint(target, options) : ''}`
        return { outcome: status === 404 || status === 410 ? 'gone' : 'failed', reason }
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        return { outcome: 'failed', reason: `${url.host} could not be reached: ${why}` }
      } finally {
        clearTimeout(timer)
        ended.signal.removeEventListener('abort', end)
      }
    },
    async close() {
      ended.abort()
    },
  }
}

/**
 * The contact that push services are told: that of the config file, or else the address of the page, if it is https and names a
 * public domain. No contact is made up: Apple refuses one that does not exist.
 */
function contactOf({ contact, page }: NotifierOptions): string | undefined {
  if (contact !== undefined) return contact
  const address = page?.()
  if (address === undefined || !URL.canParse(address)) return undefined
  const { protocol, hostname, origin } = new URL(address)
  const isNamed = /\.[a-z]{2,}$/i.test(hostname) && !localName.test(hostname)
  return protocol === 'https:' && isNamed ? origin : undefined
}

/** Names that only a local network knows, and names that are reserved for documents and tests. */
const localName = /\.(?:local|localhost|lan|home|internal|arpa|test|invalid|example)$/i

function contactHint({ kind }: NotificationTarget, options: NotifierOptions): string {
  return kind === 'webPush' && contactOf(options) === undefined
    ? '; it may want a contact: set notifications.contact in the config file of the host'
    : ''
}

function messageFor(
  target: NotificationTarget,
  notification: Notification,
  options: NotifierOptions,
): Message {
  const { session, link } = notification
  if (target.kind === 'webPush') {
    const { key, now = Date.now } = options
    return {
      // The link needs no origin: the browser opens it on the page that has subscribed.
      body: pushMessage(JSON.stringify({ session, link }), target),
      headers: {
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        authorization: key.authorization(new URL(target.url), contactOf(options), now()),
        ttl: String(keptSeconds),
        urgency: 'high',
        // A newer message about the same session takes the place of one that has not been delivered.
        topic: createHash('sha256').update(session).digest('base64url').slice(0, 32),
      },
    }
  }
  const page = options.page?.() ?? ''
  const whole = `${page.replace(/\/$/, '')}${link}`
  if (target.kind === 'webhook')
    return {
      body: Buffer.from(JSON.stringify({ session, link: whole })),
      headers: { 'content-type': 'application/json' },
    }
  // A tap on the ntfy notification opens the address in the header `click`. A path without an origin is no address
  // there.
  const click = page === '' ? {} : { click: whole }
  return {
    body: Buffer.from(`${session}\n${whole}`),
    headers: { 'content-type': 'text/plain; charset=utf-8', ...click },
  }
}
