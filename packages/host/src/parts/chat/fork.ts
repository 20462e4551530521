import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatSource } from '@atrium/protocol/chat/commands'
import type { ChatOrigin } from '@atrium/protocol/chat/state'
import { compact } from '@atrium/protocol/update'
import { agentOf } from '../agents/agents.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'

/** Returns the reason why a chat cannot be created from this source; undefined if it can. */
export function sourceProblem(
  core: Core,
  session: Channel<'session'>,
  source: ChatSource,
): string | undefined {
  const { provider } = session.head
  const { multipleChats } = agentOf(core, provider)?.info.capabilities ?? {}
  if (source.kind !== 'fork' && source.kind !== 'sideChat')
    return 'the kind of the source must be fork or sideChat'
  if (source.kind === 'fork' && !multipleChats?.fork) return 'this agent does not support forks'
  if (source.kind === 'sideChat' && !multipleChats?.sideChat) return 'this agent does not support side chats'
  if (catalogOf(core).sessionOf(source.chat) !== session.uri)
    return 'the source is not a chat of this session'
  const chat = core.log.channel(source.chat, 'chat')
  if (chat?.head.activeTurn?.id === source.turnId)
    return 'the source turn is in progress: wait for its end, or cancel it'
  return chat?.has(source.turnId) ? undefined : 'the source chat has no such turn'
}

/** Makes the origin of a chat from its source. A chat keeps its origin even if the source chat is disposed of. */
export function originOf(source: ChatSource | undefined): ChatOrigin {
  if (source?.kind === 'fork') return { kind: 'fork', chat: source.chat, turnId: source.turnId }
  if (source?.kind !== 'sideChat') return { kind: 'user' }
  const { chat, turnId, selection } = source
  return compact<ChatOrigin>({ kind: 'sideChat', chat, turnId, selection })
}

/** The working directories of the source chat. */
export function sourceDirectories(core: Core, { chat }: ChatSource): readonly Uri[] | undefined {
  return core.log.channel(chat, 'chat')?.head.workingDirectories
}
