import { devicesOf } from '../devices/devices.ts'
import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { answer, chat, desk, ended, pending, say, session } from '../../../test/approvals.ts'
import { pairedClient } from '../../../test/devices.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { MemoryNotifier, keys } from '../../../test/notifications/memory-notifier.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'
import type { NotificationsResult } from './extensions.ts'
import { notifierContract } from '../../ports/contracts/notifier.contract.ts'

const root = 'ahp-root://'
const ask = (client: Client, command: string, params: object = {}) =>
  client.peer.request(`x-atrium/${command}`, { channel: root, ...params })
// The host's own tests know the shape: hence the cast.
const listed = async (client: Client) => (await ask(client, 'notifications')) as NotificationsResult
const subscription = (name: string) => ({ endpoint: `https://push.example/${name}`, ...keys })
const webhook = (status = 200) => ({ url: `https://hook.example/${status}`, kind: 'webhook' })

async function office(values: Partial<typeof limits> = {}) {
  const notifier = new MemoryNotifier()
  const joined = await desk({ notifier }, values)
  /** Lets the delay pass, and waits until all targets have answered. */
  const later = async () => {
    await untilIdle()
    joined.all.world.advance(limits.pushDelayMs)
    await untilIdle()
  }
  return { ...joined, notifier, later }
}

const phoneOf = (all: TestHost) => pairedClient(all, 'approve', 'phone')

notifierContract('memory', async () => {
  const notifier = new MemoryNotifier()
  return {
    notifier,
    target: (kind, status) => {
      const url = `https://push.example/${status}`
      return kind === 'webPush' ? { kind, url, ...keys } : { kind, url }
    },
    received: () => notifier.sent.map((each) => each.notification),
  }
})

describe('[T22] people are notified', () => {
  test('when a session needs a person, with the session and a link to its chat; and when it ends', async () => {
    const { all, ann, notifier, later } = await office()
    const phone = await phoneOf(all)
    await ask(phone, 'subscribePush', subscription('phone'))
    const turnId = await say(ann, 'run ls')
    await pending(ann)
    await later()
    const place = `/#/session/${encodeURIComponent(session)}`
    const waits = { session, link: `${place}/${encodeURIComponent(chat)}` }
    expect(notifier.sent.map((each) => each.notification)).toEqual([waits])
    await answer(ann, {})
    await ended(ann, turnId)
    await later()
    expect(notifier.sent.map((each) => each.notification)).toEqual([waits, { session, link: place }])
    expect((await listed(ann)).notices).toMatchObject([
      { event: 'ended', outcome: 'sent', session },
      { event: 'needs you', outcome: 'sent', session },
    ])
  })

  test('[S-57 pushDelayMs] at 2,000 ms they are not yet; [S-57 pushDelayMs] past 2,000 ms they are, but for what is over', async () => {
    const { ann, notifier, all } = await office()
    await ask(ann, 'addWebhook', webhook())
    const turnId = await say(ann, 'run ls')
    await pending(ann)
    await untilIdle()
    all.world.advance(limits.pushDelayMs - 1)
    await untilIdle()
    expect(notifier.sent).toEqual([])
    await answer(ann, {})
    await ended(ann, turnId)
    all.world.advance(1)
    await untilIdle()
    expect(notifier.sent).toEqual([])
    all.world.advance(limits.pushDelayMs)
    await untilIdle()
    expect(notifier.sent).toHaveLength(1)
  })

  test('[T22.2] not about an archived session', async () => {
    const { ann, notifier, later } = await office()
    await ask(ann, 'addWebhook', webhook())
    await say(ann, 'run ls')
    await pending(ann)
    await ann.echo(ann.dispatch(session, { type: 'session/isArchivedChanged', isArchived: true }))
    await later()
    expect(notifier.sent).toEqual([])
  })

  test('[T22.2] not about what was so before a restart', async () => {
    const { all, ann, notifier, later } = await office()
    await ask(ann, 'addWebhook', webhook())
    await say(ann, 'run ls')
    await pending(ann)
    await later()
    await all.restart('crash')
    all.world.advance(limits.pushDelayMs)
    await untilIdle()
    expect(notifier.sent).toHaveLength(1)
  })
})

describe('[T22] presence', () => {
  test('[T22.1] a visible page of the same device suppresses a push, and a hidden or foreign one does not', async () => {
    const { all, ann, notifier, later } = await office()
    const phone = await phoneOf(all)
    await ask(phone, 'subscribePush', subscription('phone'))
    await ask(ann, 'addWebhook', webhook())
    await ask(ann, 'presence', { visible: true })
    await ask(phone, 'presence', { visible: true })
    const turnId = await say(ann, 'say one')
    await ended(ann, turnId)
    await later()
    expect(notifier.sent.map(({ url }) => url)).toEqual(['https://hook.example/200'])
    const { notices } = await listed(ann)
    expect(notices.find(({ outcome }) => outcome === 'suppressed')).toMatchObject({
      event: 'ended',
      reason: 'a page of this device is visible',
    })
    await ask(phone, 'presence', { visible: false })
    await ended(ann, await say(ann, 'say two'))
    await later()
    expect(notifier.sent.map(({ url }) => url)).toContain('https://push.example/phone')
  })

  test('[T22.1] a page that has gone is not there, also if it was visible', async () => {
    const { all, ann, notifier, later } = await office()
    const phone = await phoneOf(all)
    await ask(phone, 'subscribePush', subscription('phone'))
    await ask(phone, 'presence', { visible: true })
    phone.peer.close(1000, 'bye')
    await untilIdle()
    await ended(ann, await say(ann, 'say one'))
    await later()
    expect(notifier.sent).toHaveLength(1)
  })
})

test('[T22.3] [T22] a device that may not answer is told that a session has ended, and not that it needs a person', async () => {
  const { all, ann, notifier, later } = await office()
  for (const role of ['watch', 'prompt', 'approve'] as const)
    await ask(await pairedClient(all, role), 'subscribePush', subscription(role))
  await ask(ann, 'addWebhook', webhook())
  const told = () => notifier.sent.splice(0).map(({ url }) => url.replace('https://push.example/', ''))
  const turnId = await say(ann, 'run ls')
  await pending(ann)
  await later()
  expect(told()).toEqual(['approve', 'https://hook.example/200'])
  const reasons = (await listed(ann)).notices.flatMap(({ outcome, reason }) =>
    outcome === 'suppressed' ? [reason] : [],
  )
  expect(new Set(reasons)).toEqual(
    new Set(['prompt', 'watch'].map((role) => `a device with the role ${role} may not answer`)),
  )
  await answer(ann, {})
  await ended(ann, turnId)
  await later()
  expect(told()).toEqual(['watch', 'prompt', 'approve', 'https://hook.example/200'])
})

describe('[T20] targets', () => {
  test('[T20.1] a device that subscribes again has one target, and only its own can be ended by it', async () => {
    const { all, ann } = await office()
    const phone = await phoneOf(all)
    for (let count = 0; count < 2; count++) await ask(phone, 'subscribePush', subscription('phone'))
    const [target] = (await listed(ann)).targets
    expect((await listed(ann)).targets).toEqual([
      expect.objectContaining({ kind: 'webPush', origin: 'https://push.example', device: 'phone' }),
    ])
    expect(JSON.stringify(target)).not.toMatch(/\/phone|AAAA/)
    const tablet = await pairedClient(all, 'watch', 'tablet')
    await ask(tablet, 'unsubscribePush', { endpoint: subscription('phone').endpoint })
    await expect(ask(tablet, 'subscribePush', subscription('phone'))).rejects.toThrow('another device')
    expect((await listed(ann)).targets).toHaveLength(1)
    await ask(phone, 'unsubscribePush', { endpoint: subscription('phone').endpoint })
    expect((await listed(ann)).targets).toEqual([])
  })

  test('[T20.3] they survive a crash, and end with the device; one that is gone is removed', async () => {
    const { all, ann, notifier, later } = await office()
    await ask(await phoneOf(all), 'subscribePush', subscription('phone'))
    await ask(ann, 'addWebhook', webhook(410))
    await all.restart('crash')
    const bob = await all.join('bob', { subscribe: [root, session, chat] })
    expect((await listed(bob)).targets).toHaveLength(2)
    await ended(bob, await say(bob, 'say one'))
    await later()
    expect((await listed(bob)).targets.map(({ kind }) => kind)).toEqual(['webPush'])
    expect((await listed(bob)).notices).toContainEqual(
      expect.objectContaining({ outcome: 'failed', reason: 'it answered 410' }),
    )
    const [device] = devicesOf(all.core()).list
    await ask(bob, 'revokeDevice', { id: device?.id })
    const before = notifier.sent.length
    await ended(bob, await say(bob, 'say two'))
    await later()
    expect(notifier.sent).toHaveLength(before)
    expect((await listed(bob)).targets).toEqual([])
  })

  test('[T20.4] bad addresses, missing roles and unknown ids are errors, and change nothing', async () => {
    const { all, ann } = await office()
    const phone = await phoneOf(all)
    const refused: readonly (readonly [Client, string, object, string])[] = [
      [ann, 'addWebhook', { url: 'http://10.0.0.1/', kind: 'ntfy' }, 'not a public address'],
      [ann, 'addWebhook', { url: 'https://a.example/', kind: 'pager' }, 'kind'],
      [ann, 'subscribePush', subscription('x'), 'only a device can subscribe'],
      [ann, 'removeNotificationTarget', { id: 'x' }, 'no target "x"'],
      [phone, 'subscribePush', { ...subscription('x'), auth: '' }, 'no key of a browser'],
      [phone, 'addWebhook', webhook(), 'needs the role own'],
      [phone, 'notifications', {}, 'needs the role own'],
      [phone, 'testNotifications', {}, 'needs the role own'],
    ]
    for (const [client, command, params, problem] of refused)
      await expect(ask(client, command, params), command).rejects.toThrow(problem)
    expect(await listed(ann)).toEqual({ targets: [], notices: [] })
  })

  test('a test reaches every target, and says what has become of it', async () => {
    const { ann, notifier } = await office()
    for (const status of [200, 500]) await ask(ann, 'addWebhook', webhook(status))
    const { notices } = (await ask(ann, 'testNotifications')) as NotificationsResult
    expect(notices.map(({ event, outcome }) => `${event}: ${outcome}`)).toEqual([
      'test: sent',
      'test: failed',
    ])
    expect(notifier.sent).toHaveLength(2)
    const [, failed] = (await listed(ann)).targets
    await ask(ann, 'removeNotificationTarget', { id: failed?.id })
    expect((await listed(ann)).targets).toHaveLength(1)
  })

  test('[S-57 pushTargets] at 64 targets the last is added; [S-57 pushTargets] past 64 a further one is refused', async () => {
    const { ann } = await office({ pushTargets: 1 })
    await ask(ann, 'addWebhook', webhook(200))
    await expect(ask(ann, 'addWebhook', webhook(201))).rejects.toThrow('may have no more: remove one first')
    expect((await listed(ann)).targets).toHaveLength(1)
  })
})

describe('[T23] records', () => {
  test('[S-57 notices] at 500 records all are kept; [S-57 notices] past 500 the oldest is deleted, also after a crash', async () => {
    const { all, ann } = await office({ notices: 2 })
    await ask(ann, 'addWebhook', webhook())
    for (let count = 0; count < 2; count++) await ask(ann, 'testNotifications')
    expect((await listed(ann)).notices).toHaveLength(2)
    all.world.advance(60_000)
    await ask(ann, 'testNotifications')
    await all.restart('crash')
    const { notices } = await listed(await all.join('bob'))
    expect(notices.map(({ at }) => at)).toEqual(['2026-01-01T00:01:00.000Z', '2026-01-01T00:00:00.000Z'])
  })

  test('a host that is read-only or has no notifier does not have the commands', async () => {
    const { all } = await office()
    await all.restart('close', 'the disk is being copied')
    await expect(ask(await all.join('bob'), 'notifications')).rejects.toMatchObject({ code: -32601 })
    const { ann } = await desk()
    await expect(ask(ann, 'pushKey')).rejects.toMatchObject({ code: -32601 })
  })

  test('notifications leave no trace in the log', async () => {
    const { ann, later } = await office()
    await ask(ann, 'addWebhook', webhook())
    await ended(ann, await say(ann, 'say one'))
    const before = ann.lastSeen
    await later()
    expect((await listed(ann)).notices).toHaveLength(1)
    expect(ann.lastSeen).toBe(before)
  })
})
