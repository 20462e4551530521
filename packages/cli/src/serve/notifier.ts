import { notifier, vapidKeyOf } from '@atrium/adapters/push'
import type { Notifier } from '@atrium/host/ports/notifier'
import type { Logger } from 'pino'
import type { Settings } from './config-fields.ts'

/**
 * Returns the notifier, which reaches people who have no client open. Undefined for a read-only host, and if the key
 * that signs notifications (VAPID) cannot be read or written: the host then works without notifications.
 */
export async function notifierOf(
  { data, readOnly, notifications = {} }: Settings,
  log: Logger,
  page: () => string | undefined,
): Promise<Notifier | undefined> {
  if (readOnly) return undefined
  try {
    const { allow, contact } = notifications
    return notifier({ key: await vapidKeyOf(data), allowed: allow, contact, page })
  } catch (error) {
    log.warn({ err: error }, 'nobody is notified')
    return undefined
  }
}
