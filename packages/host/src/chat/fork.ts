import type { Uri } from '@atrium/protocol/channel'
import type { ChatSource } from '@atrium/protocol/chat/commands'
import type { ChatOrigin } from '@atrium/protocol/chat/state'
import { compact } from '@atrium/protocol/update'
import { agentOf } from '../agents/agents.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'

/** Why no chat of a session can begin from this turn of another, if none can. */
export function sourceProblem(
  core: Core,
  session: Channel<'session'>,
  source: ChatSource,
): string | undefined {
  const { provider } = session.head
  const { multipleChats } = agentOf(core, provider)?.info.capabilities ?? {}
  if (source.kind !== 'fork' && source.kind !== 'sideChat') return 'a chat begins as a fork or a side chat'
  if (source.kind === 'fork' && !multipleChats?.fork) return 'this agent does not fork chats'
  if (source.kind === 'sideChat' && !multipleChats?.sideChat) return 'this agent has no side chats'
  if (core.catalog.sessionOf(source.chat) !== session.uri) return 'its source is no chat of this session'
  const chat = core.log.channel(source.chat, 'chat')
  if (chat?.head.activeTurn?.id === source.turnId)
    return 'that turn is in progress: wait for its end, or cancel it'
  return chat?.has(source.turnId) ? undefined : 'its source has no such turn'
}

/** Where a chat comes from: kept as it was, whatever becomes of that. */
export function originOf(source: ChatSource | undefined): ChatOrigin {
  if (source?.kind === 'fork') return { kind: 'fork', chat: source.chat, turnId: source.turnId }
  if (source?.kind !== 'sideChat') return { kind: 'user' }
  const { chat, turnId, selection } = source
  return compact<ChatOrigin>({ kind: 'sideChat', chat, turnId, selection })
}

/** A chat that begins from another works where that does. */
export function directoriesOf(core: Core, { chat }: ChatSource): readonly Uri[] | undefined {
  return core.log.channel(chat, 'chat')?.head.workingDirectories
}
