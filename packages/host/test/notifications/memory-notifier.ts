import type { Delivery, Notification, NotificationTarget, Notifier } from '../../src/ports/notifier.ts'

/** A notifier that delivers to a list. The path of an address has the status of the answer. */
export class MemoryNotifier implements Notifier {
  readonly publicKey = `B${'A'.repeat(86)}`
  readonly sent: { readonly url: string; readonly notification: Notification }[] = []
  #closed = false

  problemOf(target: NotificationTarget): string | undefined {
    if (!/^https:\/\/[a-z.]+\//.test(target.url)) return 'this is not a public address of the web'
    return target.kind === 'webPush' && target.auth.length !== 22 ? 'this is no key of a browser' : undefined
  }

  async send(target: NotificationTarget, notification: Notification): Promise<Delivery> {
    const problem = this.#closed ? 'the host is ending' : this.problemOf(target)
    if (problem !== undefined) return { outcome: 'failed', reason: problem }
    this.sent.push({ url: target.url, notification })
    const status = Number(/\/(\d{3})$/.exec(target.url)?.[1] ?? 201)
    if (status < 300) return { outcome: 'sent' }
    return { outcome: status === 404 || status === 410 ? 'gone' : 'failed', reason: `it answered ${status}` }
  }

  async close(): Promise<void> {
    this.#closed = true
  }
}

/** The keys of a browser's subscription, for this notifier. */
export const keys = { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) }
