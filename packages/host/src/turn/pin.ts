import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatAttachment, Message, MessageAttachment } from '@atrium/protocol/chat/message'
import { mapped, within, without } from '@atrium/protocol/update'
import type { Core } from '../core/core.ts'
import { equal } from '../log/equal.ts'
import { withoutCallMeta } from '../tools/call-meta.ts'
import { wakeIfSound } from '../channels/wake.ts'

/**
 * A chat that is attached without saying up to which turn is meant as it is when its message is sent: the last turn that is done
 * by then is written into it, in the step in which it is accepted, and so everyone is told the same.
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

/** Why a message cannot be taken, if it cannot: each chat may have to be read from the disk. */
export function attachmentProblem(core: Core, action: Action): string | undefined {
  const { chatAttachments } = core.limits
  const count = attachmentsOf(messageOf(action)).filter(isChat).length
  return count > chatAttachments ? `a message has at most ${chatAttachments} chats attached` : undefined
}

/** The chats that must be awake before an action can be pinned, and are not. For what will be refused none must. */
export function asleepFor(core: Core, action: Action): readonly Uri[] {
  const chats = attachmentsOf(messageOf(action)).filter(isUnpinned)
  if (chats.length === 0 || attachmentProblem(core, action) !== undefined) return []
  const uris = new Set(chats.map(({ resource }) => resolvedMessage(core, resource)))
  return [...uris].filter((uri) => core.catalog.sessionOf(uri) !== undefined && !core.log.channel(uri))
}

export async function wakeFor(core: Core, action: Action): Promise<void> {
  for (const uri of asleepFor(core, action)) await wakeIfSound(core, uri)
}

/** Whether what was accepted is what was wished, pinned or not, whatever else stands beside it. */
export function isDraftOrQueued(taken: Action, wish: Action): boolean {
  const [accepted, wished] = [withoutCallMeta(taken), withoutCallMeta(wish)]
  if (equal(accepted, wished)) return true
  const free = attachmentsOf(messageOf(wished)).map(isUnpinned)
  return free.includes(true) && equal(loosened(accepted, free), loosened(wished, free))
}

function loosened(action: Action, free: readonly boolean[]): Action {
  let at = 0
  return withMessage(action, (message) =>
    withAttachments(message, (attachment) =>
      free[at++] && isChat(attachment) ? without(attachment, 'endTurn') : attachment,
    ),
  )
}

/** The chat that a client means. */
export function resolvedMessage({ catalog }: Core, name: Uri): Uri {
  return catalog.sessionOf(name) === undefined ? (catalog.defaultChatNamed(name) ?? name) : name
}

function lastTurn(core: Core, { resource }: ChatAttachment): string | undefined {
  const chat = core.log.channel(resolvedMessage(core, resource))
  return chat?.kind.name === 'chat' ? chat.rowIds.at(chat.rowIds.length - 1) : undefined
}

/** Where each action has a message that an agent will read. A draft is none yet. */
const keys: ReadonlyMap<string, string> = new Map([
  ['chat/turnStarted', 'message'],
  ['chat/pendingMessageSet', 'message'],
  ['chat/toolCallConfirmed', 'userSuggestion'],
])

type Carrier = Action & { readonly [key: string]: Message | undefined }

/** It may be anything yet: not every wish was judged. */
function messageOf(action: Action): Message | undefined {
  return (action as Carrier)[keys.get(action.type) ?? '']
}

function withMessage(action: Action, change: (message: Message) => Message): Action {
  const key = keys.get(action.type)
  return key === undefined ? action : within(action as Carrier, key, change)
}

function attachmentsOf(message: Message | undefined): readonly MessageAttachment[] {
  const { attachments } = message ?? {}
  return Array.isArray(attachments) ? (attachments as readonly MessageAttachment[]) : []
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
