import type { Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Core } from './core.ts'
import type { Link } from './link.ts'

/** The reason for which changes are refused while the disk is full. */
export const diskFull = 'the disk of the host is full: nothing can be changed until it has space again'

/** Says why actions do not become durable, after `log.settled` has resolved with false. */
export function unsettledReason({ log }: Core): string {
  return log.diskFull ? 'the disk of the host is full' : 'the host is shutting down'
}

/** The channel on which each link was told that the disk is full. */
const told = new WeakMap<Link, Uri>()

/**
 * Tells a client that the disk has become full, or has space again. While the disk is full, the client gets neither
 * echoes nor refusals of actions that wait for space, because these actions may still become durable. No state of AHP
 * can change without the disk, so no state can tell this. Therefore the host sends a notification of its own.
 */
export function notifySpace(core: Core, link: Link, full: boolean): void {
  const channel = full ? concerned(core, link) : told.get(link)
  // Nobody is told the same twice.
  if (channel === undefined || full === told.has(link)) return
  if (full) told.set(link, channel)
  else told.delete(link)
  const message = full
    ? 'The disk of the host is full. What was sent and not confirmed waits for space; other changes are refused.'
    : 'The disk of the host has space again.'
  link.notify('x-atrium/diskFull', { channel, full, message })
}

/**
 * Returns the channel of the notification: the root, if the client is subscribed to it, or else the channel of an
 * action of the client that waits for space.
 */
function concerned({ log }: Core, link: Link): Uri | undefined {
  if (log.channel(rootUri)?.listeners.has(link)) return rootUri
  return log.uncommittedOf(link.clientId)[0]?.channel
}
