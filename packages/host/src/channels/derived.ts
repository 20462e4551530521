import type { ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { patch } from '@atrium/protocol/update'
import { entryOf, sessionOf } from '../core/lookup.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { summarize } from '../core/summary.ts'
import { derivedRoot } from '../root/root.ts'

/** A channel's told state with what none of its actions can change filled in. */
export function derived(core: Core, channel: Channel): object {
  const { kind, committed } = channel
  if (kind.name === 'root') return derivedRoot(core, committed as RootState)
  if (kind.name === 'session')
    return { ...(committed as object), status: summarize(committed as SessionState).status }
  const entry = committedEntryOf(core, channel)
  if (!entry) return committed as object
  const { title, interactivity, changes } = entry
  return patch(committed as ChatState, { title, interactivity, changes })
}

/** What is kept of a chat in its session alone: its entry there. */
export function committedEntryOf(core: Core, { uri, kind }: Channel): ChatSummary | undefined {
  if (kind.name !== 'chat') return undefined
  for (const session of core.catalog.chatIndex.committedAmong(uri)) {
    const state = core.log.channel(session, 'session')?.committed
    const entry = state?.chats.find(({ resource }) => resource === uri)
    if (entry) return entry
  }
  // It has moved, and the session that it left has been disposed of, all before anybody was told.
  const session = sessionOf(core, uri)
  return session && entryOf(session, uri)
}
