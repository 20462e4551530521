import { customizationsOf } from '../catalog/customizing.ts'
import { annotationsUri, rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'

/** Time that a channel without subscribers stays in memory. */
const idleMs = 60_000

/** Schedules a check. A channel that is unused at the time of the check leaves memory. The root channel never leaves memory. */
export function sleepWhenIdle(core: Core, channel: Channel): void {
  if (channel.listeners.size > 0 || channel.sleepCheckDue || channel.uri === rootUri) return
  channel.sleepCheckDue = true
  core.world.later(idleMs, () => {
    channel.sleepCheckDue = false
    const awake = core.log.channel(channel.uri) === channel
    if (!awake) return
    if (needed(core, channel) || !core.log.sleep(channel)) sleepWhenIdle(core, channel)
    else slept(core, channel)
  })
}

function slept(core: Core, channel: Channel): void {
  core.sealing.slept(channel)
  if (channel.is('session')) customizationsOf(core)?.slept(channel.uri)
}

/**
 * Returns whether a channel must stay in memory: it has work, or it is a session with a chat or annotations that are
 * in memory or being loaded.
 */
function needed(core: Core, channel: Channel): boolean {
  const { uri } = channel
  if (core.jobs.isPending(uri) || core.jobs.has(uri)) return true
  if (!channel.is('session')) return false
  return (
    channel.head.chats.some(({ resource }) => core.log.isAwake(resource)) ||
    core.log.isAwake(annotationsUri(uri))
  )
}
