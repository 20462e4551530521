import { catalogOf } from '../catalog/catalog.ts'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { RootState } from '@atrium/protocol/root/state'
import { patch } from '@atrium/protocol/update'
import { entryOf, sessionOf } from '../catalog/lookup.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'
import { annotationsSummary } from './annotations-channel.ts'
import { defineKey } from '../kernel/key.ts'

/** Fills in the fields of the root that no action can change. */
interface RootView {
  derived(state: RootState): RootState
}

export const rootOf = defineKey<RootView>('root')

/**
 * Returns a channel's committed state, completed by the fields that no action can change. A field that an action can change
 * is never replaced here, because the clients that are already subscribed would keep the reduced value.
 */
export function derived(core: Core, channel: Channel): object {
  if (channel.is('root')) return rootOf(core).derived(shownState(channel))
  const annotations = annotationsSummary(core, channel)
  if (channel.is('session') && annotations) return patch(shownState(channel), { annotations })
  const entry = channel.is('chat') ? committedEntryOf(core, channel) : undefined
  if (!channel.is('chat') || !entry) return shownState(channel)
  const { title, interactivity, changes } = entry
  return patch(shownState(channel), { title, interactivity, changes })
}

function shownState<K extends KindName>(channel: Channel<K>): StateOf<K> {
  return channel.committedState
}

/**
 * Returns the entry of a chat in the committed state of its session. Only this entry has the chat's title, interactivity and
 * changes.
 */
export function committedEntryOf(core: Core, channel: Channel): ChatSummary | undefined {
  if (!channel.is('chat')) return undefined
  const { uri } = channel
  for (const session of catalogOf(core).chatIndex.committedAmong(uri)) {
    const state = core.log.channel(session, 'session')?.committed
    const entry = state?.chats.find(({ resource }) => resource === uri)
    if (entry) return entry
  }
  // The chat was moved, the move is not committed yet, and the session that it left is disposed of. So no session has
  // the chat in its committed state.
  const session = sessionOf(core, uri)
  return session && entryOf(session, uri)
}
