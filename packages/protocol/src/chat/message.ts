import { JsonPrimitive } from '../common/config.ts'
import { contentRefShape, meta } from '../common/content.ts'
import { TextRange, TextSelection } from '../common/text.ts'
import { array, id, is, object, openEnum, optional, record, string, variant } from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'

const modelSelection = { id, config: optional(record(JsonPrimitive)) }
export interface ModelSelection extends Infer<typeof modelSelection> {}
export const ModelSelection: Schema<ModelSelection> = object('ModelSelection', modelSelection)

const agentSelection = { uri: id }
export interface AgentSelection extends Infer<typeof agentSelection> {}
export const AgentSelection: Schema<AgentSelection> = object('AgentSelection', agentSelection)

const attachment = { label: string, range: optional(TextRange), displayKind: optional(string), ...meta }
const selection = optional(TextSelection)

export const MessageAttachment = variant('MessageAttachment', 'type', {
  simple: object('SimpleAttachment', {
    ...attachment,
    type: is('simple'),
    modelRepresentation: optional(string),
  }),
  embeddedResource: object('EmbeddedResourceAttachment', {
    ...attachment,
    type: is('embeddedResource'),
    data: string,
    contentType: string,
    selection,
  }),
  resource: object('ResourceAttachment', {
    ...attachment,
    ...contentRefShape,
    type: is('resource'),
    selection,
  }),
  annotations: object('AnnotationsAttachment', {
    ...attachment,
    type: is('annotations'),
    resource: id,
    annotationIds: optional(array(id)),
  }),
  chat: object('ChatAttachment', { ...attachment, type: is('chat'), resource: id, endTurn: optional(id) }),
})
export type MessageAttachment = TypeOf<typeof MessageAttachment>

const messageOrigin = {
  kind: openEnum('MessageKind', ['user', 'agent', 'tool', 'automation', 'systemNotification']),
}
export interface MessageOrigin extends Infer<typeof messageOrigin> {}
export const MessageOrigin: Schema<MessageOrigin> = object('MessageOrigin', messageOrigin)

const message = {
  text: string,
  origin: MessageOrigin,
  attachments: optional(array(MessageAttachment)),
  model: optional(ModelSelection),
  agent: optional(AgentSelection),
  ...meta,
}
export interface Message extends Infer<typeof message> {}
export const Message: Schema<Message> = object('Message', message)

const pendingMessage = { id, message: Message }
/** A message that waits for its turn. */
export interface PendingMessage extends Infer<typeof pendingMessage> {}
export const PendingMessage: Schema<PendingMessage> = object('PendingMessage', pendingMessage)
