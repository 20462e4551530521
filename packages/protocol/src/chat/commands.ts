import { command } from '../command.ts'
import { array, id, is, natural, object, openEnum, optional, string, variant } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'
import { Message, MessageAttachment } from './message.ts'
import { forkShape, sideChatShape } from './state.ts'

export interface ChatForkSource extends Infer<typeof forkShape> {}
export interface ChatSideChatSource extends Infer<typeof sideChatShape> {}
export const ChatSource = variant('ChatSource', 'kind', {
  fork: object<ChatForkSource>('ChatForkSource', forkShape),
  sideChat: object<ChatSideChatSource>('ChatSideChatSource', sideChatShape),
})
export type ChatSource = TypeOf<typeof ChatSource>

const chatMoveToSession = { kind: is('session'), session: id, after: optional(id) }
export interface ChatMoveToSession extends Infer<typeof chatMoveToSession> {}

const chatMoveToNewSession = { kind: is('newSession') }
export interface ChatMoveToNewSession extends Infer<typeof chatMoveToNewSession> {}

export const ChatMoveDestination = variant('ChatMoveDestination', 'kind', {
  session: object<ChatMoveToSession>('ChatMoveToSession', chatMoveToSession),
  newSession: object<ChatMoveToNewSession>('ChatMoveToNewSession', chatMoveToNewSession),
})
export type ChatMoveDestination = TypeOf<typeof ChatMoveDestination>

const completionItem = {
  insertText: string,
  rangeStart: optional(natural),
  rangeEnd: optional(natural),
  attachment: MessageAttachment,
}
export interface CompletionItem extends Infer<typeof completionItem> {}
export const CompletionItem = object<CompletionItem>('CompletionItem', completionItem)

export const chatCommands = {
  createChat: command(
    {
      chat: id,
      initialMessage: optional(Message),
      source: optional(ChatSource),
      workingDirectories: optional(array(id)),
    },
    null,
  ),
  moveChat: command({ destination: ChatMoveDestination }, { session: id }),
  disposeChat: command({}, null),
  fetchTurns: command({ cursor: optional(string) }, {}),
  completions: command(
    { kind: openEnum('CompletionItemKind', ['userMessage']), text: string, offset: natural },
    { items: array(CompletionItem) },
  ),
}
