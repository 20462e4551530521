import { catalogOf } from './catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import type { TerminalInfo } from '@atrium/protocol/terminal/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'

/** Returns the session of a chat. While a chat is in memory, its session is in memory, too. */
export function sessionOf(core: Core, chat: Uri): Channel<'session'> | undefined {
  const uri = catalogOf(core).sessionOf(chat)
  return uri === undefined ? undefined : core.log.channel(uri, 'session')
}

export function entryOf(session: Channel<'session'>, chat: Uri): ChatSummary | undefined {
  return session.head.chats.find(({ resource }) => resource === chat)
}

/** Returns whether users may write in a chat. Other chats are read-only or hidden. */
export function isWritable(session: Channel<'session'>, chat: Uri): boolean {
  return (entryOf(session, chat)?.interactivity ?? 'full') === 'full'
}

/** Returns the terminals that the root lists: running ones, and ended ones that a client holds. */
export function terminals(core: Core): readonly TerminalInfo[] {
  return core.log.channel(rootUri, 'root')?.head?.terminals ?? []
}
