import { catalogOf } from '../../catalog/catalog.ts'
import { NoParams, command, part } from '../../kernel/part.ts'
import type { Notifier } from '../../ports/notifier.ts'
import { devicesOf } from '../devices/devices.ts'
import {
  AddWebhookParams,
  PresenceParams,
  RemoveTargetParams,
  SubscribePushParams,
  UnsubscribePushParams,
} from './extensions.ts'
import { openNotifications } from './notifications.ts'
import type { Notifying } from './notifying.ts'

interface Ports {
  /** Absent: people who have no client open are not told. A read-only host notifies nobody. */
  readonly notifier?: Notifier | undefined
  readonly readOnly?: string | undefined
}

/** Tells people who have no client open that a session needs them or has ended, or that an automation has missed a run. */
export const notifications = part<Notifying | undefined, Ports>({
  name: 'notifications',
  open: (core, { notifier, readOnly }) => {
    if (!notifier || readOnly !== undefined) return undefined
    return openNotifications(notifier, {
      ...core,
      catalog: catalogOf(core),
      devices: devicesOf(core),
      links: () => core.clients.links.values(),
    })
  },
  commands: {
    'x-atrium/pushKey': command('watch', NoParams, ({ publicKey }) => ({ publicKey })),
    'x-atrium/presence': command('watch', PresenceParams, (self, params, link) => {
      self.present(link, params)
      return {}
    }),
    'x-atrium/subscribePush': command('watch', SubscribePushParams, (self, params, link) =>
      self.subscribe(link, params),
    ),
    'x-atrium/unsubscribePush': command('watch', UnsubscribePushParams, (self, params, link) =>
      self.unsubscribe(link, params).then(() => ({})),
    ),
    'x-atrium/notifications': command('own', NoParams, (self) => self.list()),
    'x-atrium/addWebhook': command('own', AddWebhookParams, (self, params) => self.addWebhook(params)),
    'x-atrium/removeNotificationTarget': command('own', RemoveTargetParams, (self, params) =>
      self.remove(params).then(() => ({})),
    ),
    'x-atrium/testNotifications': command('own', NoParams, (self) =>
      self.test().then((notices) => ({ notices })),
    ),
  },
  started: (self) => self.started(),
  committed: (self, channel, action) => self.committed(channel, action),
  close: (self, inTime) => inTime(self.close()),
})
