import type { Uri } from '@atrium/protocol/channel'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import type { Channel } from '../log/channel.ts'
import type { Core } from './core.ts'

/** The session that a chat belongs to. An awake chat keeps it awake. */
export function sessionOf(core: Core, chat: Uri): Channel<'session'> | undefined {
  const uri = core.catalog.sessionOf(chat)
  return uri === undefined ? undefined : core.log.channel(uri, 'session')
}

export function entryOf(session: Channel<'session'>, chat: Uri): ChatSummary | undefined {
  return session.head.chats.find(({ resource }) => resource === chat)
}

/** Whether people write in a chat, and do not only look on. */
export function isWritable(session: Channel<'session'>, chat: Uri): boolean {
  return (entryOf(session, chat)?.interactivity ?? 'full') === 'full'
}
