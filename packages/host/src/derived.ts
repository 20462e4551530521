import type { ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { patch } from '@atrium/protocol/update'
import { sessionOf } from './alongside.ts'
import type { Channel } from './channel.ts'
import type { Core } from './core.ts'
import { rollup } from './rollup.ts'
import { derivedRoot } from './root.ts'

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
  const session = sessionOf(core, uri)?.told as SessionState | undefined
  return session?.chats.find(({ resource }) => resource === uri)
}
