import { catalogOf } from '../../catalog/catalog.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatAttachment, Message, MessageAttachment } from '@atrium/protocol/chat/message'
import { mapped, within, without } from '@atrium/protocol/update'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import { equal } from '../../kernel/log/equal.ts'
import { withoutCallMeta } from '../tools/call-meta.ts'

/**
 * Pins attached chats. A chat attached without `endTurn` means the chat as it is when the message is sent. So the step that
 * accepts the message writes the id of the attached chat's last completed turn into the attachment. All clients then see the
 * same turns.
 */
export function pinned(core: Core, action: Action): Action {
  return withMessage(action, (message) => pinnedMessage(core, message))
}

export function pinnedMessage(core: Core, message: Message): Message {
  return withAttachments(message, (attachment) => {
    const endTurn = isUnpinned(attachment) ? lastTurn(core, attachment) : undefined
    return endTurn === undefined ? attachment : { ...attachment, endTurn }
  })
}

/**
 * Returns the reason to refuse a message with too many chats attached (each may have to be read from the disk).
 * Undefined if there is none.
 */
export function attachmentProblem(core: Core, message: Message | undefined): string | undefined {
  const { chatAttachments } = core.limits
  const count = attachmentsOf(message).filter(isChat).length
  return count > chatAttachments ? `a message has at most ${chatAttachments} attached chats` : undefined
}

/**
 * The chats that must be loaded into memory before `pinned` can find their last turns. Empty for an action that will
 * be refused.
 */
export function asleepFor(core: Core, action: Action): readonly Uri[] {
  const chats = attachmentsOf(messageOf(action)).filter(isUnpinned)
  if (chats.length === 0 || attachmentProblem(core, messageOf(action)) !== undefined) return []
  const uris = new Set(chats.map(({ resource }) => resolveChat(core, resource)))
  return [...uris].filter((uri) => catalogOf(core).sessionOf(uri) !== undefined && !core.log.channel(uri))
}

export async function wakeFor(core: Core, action: Action): Promise<void> {
  for (const uri of asleepFor(core, action)) await wakeIfSound(core, uri)
}

/**
 * Whether a dispatched action equals an accepted one, apart from the `endTurn` and the `_meta` that the host added.
 */
export function isResendOf(accepted: Action, dispatched: Action): boolean {
  const [before, again] = [withoutCallMeta(accepted), withoutCallMeta(dispatched)]
  if (equal(before, again)) return true
  const unpinned = attachmentsOf(messageOf(again)).map(isUnpinned)
  return unpinned.includes(true) && equal(withoutPins(before, unpinned), withoutPins(again, unpinned))
}

/** Removes `endTurn` from the attachments at the positions at which `which` is true. */
function withoutPins(action: Action, which: readonly boolean[]): Action {
  let at = 0
  return withMessage(action, (message) =>
    withAttachments(message, (attachment) =>
      which[at++] && isChat(attachment) ? without(attachment, 'endTurn') : attachment,
    ),
  )
}

/**
 * Resolves the name of a chat to its URI. Clients may name a default chat by a name that is derived from its session.
 */
export function resolveChat(core: Core, name: Uri): Uri {
  return catalogOf(core).sessionOf(name) === undefined
    ? (catalogOf(core).defaultChatNamed(name) ?? name)
    : name
}

function lastTurn(core: Core, { resource }: ChatAttachment): string | undefined {
  const chat = core.log.channel(resolveChat(core, resource))
  return chat?.kind.name === 'chat' ? chat.rowIds.at(chat.rowIds.length - 1) : undefined
}

/**
 * For each action type, the member that holds a message for an agent. Drafts are not included, because no agent gets them
 * yet.
 */
const messageKeys: ReadonlyMap<string, string> = new Map([
  ['chat/turnStarted', 'message'],
  ['chat/pendingMessageSet', 'message'],
  ['chat/toolCallConfirmed', 'userSuggestion'],
])

type WithMessage = Action & { readonly [key: string]: Message | undefined }

/**
 * Whether actions of this type have a message. No schema has checked the message yet, so a client may have put any value in
 * its place.
 */
function hasMessage(action: Action): action is WithMessage {
  return messageKeys.has(action.type)
}

function messageOf(action: Action): Message | undefined {
  return hasMessage(action) ? action[messageKeys.get(action.type) ?? ''] : undefined
}

function withMessage(action: Action, change: (message: Message) => Message): Action {
  const key = messageKeys.get(action.type)
  return key !== undefined && hasMessage(action) ? within(action, key, change) : action
}

function attachmentsOf(message: Message | undefined): readonly MessageAttachment[] {
  const { attachments } = message ?? {}
  return Array.isArray(attachments) ? attachments : []
}

function withAttachments(
  message: Message,
  change: (attachment: MessageAttachment) => MessageAttachment,
): Message {
  return within(message, 'attachments', (attachments) => mapped(attachments, change))
}

function isChat(attachment: MessageAttachment): attachment is ChatAttachment {
  return attachment?.type === 'chat' && typeof attachment.resource === 'string'
}

function isUnpinned(attachment: MessageAttachment): attachment is ChatAttachment {
  return isChat(attachment) && (attachment.endTurn ?? undefined) === undefined
}
