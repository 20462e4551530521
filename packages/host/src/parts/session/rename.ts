import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { Core } from '../../kernel/core.ts'
import type { DispatchRules } from '../../kernel/dispatch-rules.ts'
import { entryOf, sessionOf } from '../../catalog/lookup.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Entry } from '../../kernel/log/entry.ts'
import type { Sender } from '../../kernel/log/options.ts'

type Rename = Extract<SessionAction, { type: 'session/titleChanged' }>

/** Whether a client renames a chat. VS Code dispatches the action of sessions on the channel of the chat. */
export function isRename(channel: Pick<Channel, 'kindName'>, action: Action): action is Rename {
  return channel.kindName === 'chat' && action.type === 'session/titleChanged'
}

/** A client renames a chat by an action of sessions, dispatched on the chat. So the session checks the action. */
export const renameDetour: DispatchRules<Core>['detours'] = (core, chat, action) => {
  const session = isRename(chat, action) ? sessionOf(core, chat.uri) : undefined
  if (!session || !isRename(chat, action)) return undefined
  return { target: session, accept: (sender) => rename(core, { session, chat }, action, sender) }
}

/**
 * Renames a chat, and its session if the chat is the default chat. Both titles are in the state of the session, so only
 * changes of the session are stored. The client gets an echo on the channel of the chat, where it waits for one.
 */
function rename(
  core: Core,
  { session, chat }: { readonly session: Channel<'session'>; readonly chat: Channel },
  action: Rename,
  sender: Sender,
): Entry {
  const { title } = action
  const isDefault = session.head.defaultChat === chat.uri
  const changes: readonly (SessionAction | false)[] = [
    isDefault && session.head.title !== title && { type: 'session/titleChanged', title },
    entryOf(session, chat.uri)?.title !== title && {
      type: 'session/chatUpdated',
      chat: chat.uri,
      changes: { title },
    },
  ]
  // One stored action has the client as its origin, so that the host recognizes a resend.
  const [first, ...rest] = changes.filter((change) => change !== false)
  if (first) core.log.accept(session, first, sender)
  for (const change of rest) core.log.append(session, change)
  return core.log.echo(chat, action, sender)
}

/** Whether a stored action on a session is a rename that a client dispatched on a chat. */
export function isRenameOf(stored: Action, chat: Uri, { title }: Rename): boolean {
  // The host stored the action, so it has the members of its type.
  const accepted = stored as SessionAction
  if (accepted.type === 'session/titleChanged') return accepted.title === title
  return accepted.type === 'session/chatUpdated' && accepted.chat === chat && accepted.changes.title === title
}
