import { describe, expect, test } from 'vitest'
import type { NotificationTarget, Notifier } from '../notifier.ts'

/** A notifier with targets of every kind, and what has arrived there. */
export interface NotifierBench {
  readonly notifier: Notifier
  /** A target that answers with this status. */
  target(kind: NotificationTarget['kind'], status: number): NotificationTarget
  /** What the targets have received and read, in order. */
  received(): readonly { readonly session: string; readonly link: string }[]
}

const notification = { session: 'ahp-session:/one', link: '/#/session/one' }
const kinds = ['webPush', 'webhook', 'ntfy'] as const

/** The suite that every adapter of `Notifier` passes. */
export function notifierContract(name: string, open: () => Promise<NotifierBench>): void {
  describe(`${name}: notifications`, () => {
    test.each(kinds)(
      '[T20] a notification reaches a %s with its session and link, and nothing else',
      async (kind) => {
        const { notifier, target, received } = await open()
        expect(await notifier.send(target(kind, 201), notification)).toEqual({ outcome: 'sent' })
        expect(received()).toEqual([
          { session: notification.session, link: expect.stringMatching(/\/#\/session\/one$/) },
        ])
      },
    )

    test.each([404, 410])('[T20.3] [T20] a target that answers with %s is gone', async (status) => {
      const { notifier, target } = await open()
      const delivery = await notifier.send(target('webPush', status), notification)
      expect(delivery).toEqual({ outcome: 'gone', reason: expect.stringContaining(String(status)) })
    })

    test.each([302, 400, 413, 429, 500])(
      '[T20.3] [T20] an answer with %s is a failure with a reason',
      async (status) => {
        const { notifier, target } = await open()
        const delivery = await notifier.send(target('webhook', status), notification)
        expect(delivery).toEqual({ outcome: 'failed', reason: expect.stringContaining(String(status)) })
      },
    )

    test('[T20] the public key is a point on P-256', async () => {
      expect((await open()).notifier.publicKey).toMatch(/^B[\w-]{86}$/)
    })

    test('[T20.2] [T20] [S-47] other schemes, credentials and wrong keys are named as problems, and nothing is sent', async () => {
      const { notifier, target, received } = await open()
      const push = target('webPush', 201)
      const wrong: readonly NotificationTarget[] = [
        { kind: 'webhook', url: 'ftp://push.example/x' },
        { kind: 'webhook', url: 'http://push.example/x' },
        { kind: 'ntfy', url: 'https://me:secret@push.example/x' },
        { kind: 'ntfy', url: 'no address' },
        { kind: 'webhook', url: 'https://10.0.0.1/' },
        { kind: 'webhook', url: 'https://[::1]/' },
        { ...push, kind: 'webPush', p256dh: 'AAAA', auth: 'AAAA' },
      ]
      for (const each of wrong) {
        expect(notifier.problemOf(each), each.url).toEqual(expect.any(String))
        expect(await notifier.send(each, notification)).toMatchObject({ outcome: 'failed' })
      }
      expect(notifier.problemOf(push)).toBeUndefined()
      expect(received()).toEqual([])
    })

    test('[T20] after the close nothing is sent', async () => {
      const { notifier, target, received } = await open()
      await notifier.close()
      expect(await notifier.send(target('webhook', 200), notification)).toMatchObject({ outcome: 'failed' })
      expect(received()).toEqual([])
    })
  })
}
