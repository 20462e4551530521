import type { ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { patch } from '@atrium/protocol/update'
import { entryOf, sessionOf } from '../core/lookup.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { rollup } from '../core/summary.ts'
import { derivedRoot } from '../root/root.ts'

/** A channel's told state with what none of its actions can change filled in. */
export function derived(core: Core, channel: Channel): object {
  const { kind, told } = channel
  if (kind.name === 'root') return derivedRoot(core, told as RootState)
  if (kind.name === 'session') return { ...(told as object), status: rollup(told as SessionState).status }
  const entry = besideOf(core, channel)
  if (!entry) return told as object
  const { title, interactivity, changes } = entry
  return patch(told as ChatState, { title, interactivity, changes })
}

/** What is kept of a chat in its session alone: its entry there. */
export function besideOf(core: Core, { uri, kind }: Channel): ChatSummary | undefined {
  if (kind.name !== 'chat') return undefined
  for (const session of core.catalog.homes.told(uri)) {
    const state = core.log.channel(session)?.told as SessionState | undefined
    const entry = state?.chats.find(({ resource }) => resource === uri)
    if (entry) return entry
  }
  // It has moved, and the session that it left has been disposed of, all before anybody was told.
  const session = sessionOf(core, uri)
  return session && entryOf(session, uri)
}
