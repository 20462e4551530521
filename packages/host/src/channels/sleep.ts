import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'

/** How long a channel that nobody looks at stays in memory. */
const idleMs = 60_000

/** Nobody may need this channel any more: if that is still so in a while, it is put out of memory. The root stays. */
export function sleepWhenIdle(core: Core, channel: Channel): void {
  if (channel.listeners.size > 0 || channel.sleepCheckDue || channel.uri === rootUri) return
  channel.sleepCheckDue = true
  core.world.later(idleMs, () => {
    channel.sleepCheckDue = false
    const awake = core.log.channel(channel.uri) === channel
    if (awake && (needed(core, channel) || !core.log.sleep(channel))) sleepWhenIdle(core, channel)
  })
}

/** Work is done there, or one of its chats is awake, or is being woken: whoever finds that awake must find its session. */
function needed(core: Core, { uri, kind, head }: Channel): boolean {
  if (core.jobs.isPending(uri) || core.jobs.has(uri)) return true
  const chats = kind.name === 'session' ? (head as SessionState).chats : []
  return chats.some(({ resource }) => core.log.isAwake(resource))
}
