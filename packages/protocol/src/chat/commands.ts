import { ask } from '../command.ts'
import { array, id, is, natural, object, openEnum, optional, string, variant } from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'
import { Message, MessageAttachment } from './message.ts'
import { forkShape, sideChatShape } from './state.ts'

export const ChatSource = variant('ChatSource', 'kind', {
  fork: object('ChatForkSource', forkShape),
  sideChat: object('ChatSideChatSource', sideChatShape),
})
export type ChatSource = TypeOf<typeof ChatSource>

export const ChatMoveDestination = variant('ChatMoveDestination', 'kind', {
  session: object('ChatMoveToSession', { kind: is('session'), session: id, after: optional(id) }),
  newSession: object('ChatMoveToNewSession', { kind: is('newSession') }),
})
export type ChatMoveDestination = TypeOf<typeof ChatMoveDestination>

const completionItem = {
  insertText: string,
  rangeStart: optional(natural),
  rangeEnd: optional(natural),
  attachment: optional(MessageAttachment),
}
export interface CompletionItem extends Infer<typeof completionItem> {}
export const CompletionItem: Schema<CompletionItem> = object('CompletionItem', completionItem)

export const chatCommands = {
  createChat: ask(
    {
      chat: id,
      initialMessage: optional(Message),
      source: optional(ChatSource),
      workingDirectories: optional(array(id)),
    },
    null,
  ),
  moveChat: ask({ destination: ChatMoveDestination }, { session: id }),
  disposeChat: ask({}, null),
  fetchTurns: ask({ cursor: optional(string) }, {}),
  completions: ask(
    { kind: openEnum('CompletionItemKind', ['userMessage']), text: string, offset: natural },
    { items: array(CompletionItem) },
  ),
}
