import type { AutomationAction } from '@atrium/protocol/automation/actions'
import type { Action } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import { includes } from '@atrium/protocol/root/device'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { Flag, hasFlag } from '@atrium/protocol/status'
import { automationsUri } from '@atrium/protocol/uri'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Devices } from '../devices/devices.ts'
import type { Notice, NoticeEvent } from './extensions.ts'
import type { Notifying, PresentLink } from './notifying.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Notification, Notifier } from '../../ports/notifier.ts'
import type { Records } from '../../ports/records.ts'
import type { World } from '../../ports/world.ts'
import { AutomationMisses } from './automation-misses.ts'
import { deepLink } from './deep-link.ts'
import { Notices } from './notices.ts'
import { SessionMoods } from './session-moods.ts'
import { Targets } from './targets.ts'
import type { StoredTarget } from './targets.ts'

interface Parts {
  readonly records: Records
  readonly world: World
  readonly log: Log
  readonly limits: LimitValues
  readonly catalog: Catalog
  readonly devices: Devices
  /** The links that are open now. */
  readonly links: () => Iterable<PresentLink>
  /** Returns why nothing can be written at the moment; undefined if everything can. */
  readonly readOnlyReason: () => string | undefined
}

/** Notifies people who see no page of the host that a session needs them or has ended. */
export async function openNotifications(notifier: Notifier, parts: Parts): Promise<Notifying> {
  const { records, world, limits, catalog } = parts
  const targets = await Targets.open({ records, world, limits, devices: parts.devices, notifier })
  const notices = await Notices.open(records, limits.notices)
  const visible = new WeakSet<PresentLink>()
  const write = async () => {
    parts.log.scheduleFlush()
    await parts.log.settled()
  }
  const changeable = () => {
    const reason = parts.readOnlyReason()
    if (reason !== undefined) throw AhpError.permissionDenied(reason)
  }
  const isSeen = (device: string | undefined) =>
    device !== undefined && [...parts.links()].some((link) => visible.has(link) && link.device?.id === device)

  /** Why a target gets no notification of this event. Undefined if it gets one. A test is always sent. */
  const suppression = ({ device }: StoredTarget, event: NoticeEvent): string | undefined => {
    if (event === 'test') return undefined
    if (isSeen(device)) return 'a page of this device is visible'
    const role = parts.devices.list.find(({ id }) => id === device)?.role
    if (event === 'missed' && role !== undefined && !includes(role, 'own'))
      return `a device with the role ${role} may not change automations`
    const answers = role === undefined || includes(role, 'approve')
    return event === 'needs you' && !answers ? `a device with the role ${role} may not answer` : undefined
  }

  /** Sends a notification to a target, unless it is suppressed. Returns its record. */
  const notify = async (
    stored: StoredTarget,
    event: NoticeEvent,
    notification: Notification,
  ): Promise<Notice> => {
    const base = { event, session: notification.session, target: stored.id }
    const done = (outcome: Notice['outcome'], reason?: string): Notice => ({
      at: new Date(world.now()).toISOString(),
      ...base,
      outcome,
      ...(reason !== undefined && { reason }),
    })
    const suppressed = suppression(stored, event)
    if (suppressed !== undefined) return done('suppressed', suppressed)
    const delivery = await notifier.send(stored.target, notification)
    if (delivery.outcome === 'sent') return done('sent')
    if (delivery.outcome === 'gone') targets.remove(stored.id)
    return done('failed', delivery.reason)
  }
  const notifyAll = async (event: NoticeEvent, notification: Notification): Promise<readonly Notice[]> => {
    const made = await Promise.all(targets.all.map((each) => notify(each, event, notification)))
    // While the disk is full, the notifications are sent all the same, and get no records.
    if (made.length === 0 || parts.readOnlyReason() !== undefined) return made
    for (const notice of made) notices.add(notice)
    await write()
    return made
  }
  const changed = (event: 'needs you' | 'ended', entry: SessionSummary) => {
    if (hasFlag(entry.status, Flag.IsArchived)) return
    notifyAll(event, { session: entry.resource, link: deepLink(entry) }).catch((error: unknown) =>
      world.report('notifying failed', error),
    )
  }
  const moods = new SessionMoods({
    world,
    delayMs: limits.pushDelayMs,
    sessions: catalog.all,
    entryOf: (session) => catalog.get(session),
    changed,
  })

  const missed = () => {
    notifyAll('missed', { session: '', link: '/#/automations' }).catch((error: unknown) =>
      world.report('notifying failed', error),
    )
  }
  const entries = () => parts.log.channel(automationsUri, 'automation')?.head.entries ?? []
  let misses: AutomationMisses | undefined

  return {
    publicKey: notifier.publicKey,
    started() {
      misses = new AutomationMisses(entries(), { world, delayMs: limits.pushDelayMs, missed })
    },
    committed(channel: Channel, action: Action) {
      // Only the host sends these actions, in the shapes of AHP.
      const given = action as AutomationAction
      if (given.type === 'automation/set') misses?.seen(given.automation)
      if (given.type === 'automation/removed') misses?.forget(given.resource)
      const session = channel.is('chat') ? catalog.sessionOf(channel.uri) : undefined
      if (session !== undefined && action.type === 'chat/turnStarted') moods.began(session)
      if (channel.is('session')) moods.seen(channel.uri)
    },
    present(link, params) {
      if (params.visible) visible.add(link)
      else visible.delete(link)
    },
    async subscribe({ device }, { endpoint, p256dh, auth }) {
      changeable()
      if (!device) throw AhpError.permissionDenied('only a device can subscribe: open the page of this host')
      const added = targets.add({ kind: 'webPush', url: endpoint, p256dh, auth }, device.id)
      await write()
      return targets.shown(added)
    },
    async unsubscribe({ device }, { endpoint }) {
      changeable()
      const own = targets.all.find((each) => each.target.url === endpoint && each.device === device?.id)
      if (own) targets.remove(own.id)
      await write()
    },
    async addWebhook({ url, kind }) {
      changeable()
      const added = targets.add({ kind, url })
      await write()
      return targets.shown(added)
    },
    async remove({ id }) {
      changeable()
      if (!targets.remove(id)) throw AhpError.notFound(`no target ${JSON.stringify(id.slice(0, 200))}`)
      await write()
    },
    list: () => ({
      targets: targets.all.map((each) => targets.shown(each)),
      notices: notices.newestFirst,
    }),
    test: () => notifyAll('test', { session: '', link: '/#/' }),
    async close() {
      moods.close()
      misses?.close()
      await notifier.close()
    },
  }
}
