import { JsonPrimitive } from '../common/config.ts'
import { contentRefShape, meta } from '../common/content.ts'
import { TextRange, TextSelection } from '../common/text.ts'
import { array, id, is, object, openEnum, optional, record, string, variant } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'

const modelSelection = { id, config: optional(record(JsonPrimitive)) }
export interface ModelSelection extends Infer<typeof modelSelection> {}
export const ModelSelection = object<ModelSelection>('ModelSelection', modelSelection)

const agentSelection = { uri: id }
export interface AgentSelection extends Infer<typeof agentSelection> {}
export const AgentSelection = object<AgentSelection>('AgentSelection', agentSelection)

const attachment = { label: string, range: optional(TextRange), displayKind: optional(string), ...meta }
const selection = optional(TextSelection)

const simpleAttachment = {
  ...attachment,
  type: is('simple'),
  modelRepresentation: optional(string),
}
export interface SimpleAttachment extends Infer<typeof simpleAttachment> {}

const embeddedResourceAttachment = {
  ...attachment,
  type: is('embeddedResource'),
  data: string,
  contentType: string,
  selection,
}
export interface EmbeddedResourceAttachment extends Infer<typeof embeddedResourceAttachment> {}

const resourceAttachment = {
  ...attachment,
  ...contentRefShape,
  type: is('resource'),
  selection,
}
export interface ResourceAttachment extends Infer<typeof resourceAttachment> {}

const annotationsAttachment = {
  ...attachment,
  type: is('annotations'),
  resource: id,
  annotationIds: optional(array(id)),
}
export interface AnnotationsAttachment extends Infer<typeof annotationsAttachment> {}

const chatAttachment = { ...attachment, type: is('chat'), resource: id, endTurn: optional(id) }
export interface ChatAttachment extends Infer<typeof chatAttachment> {}

export const MessageAttachment = variant('MessageAttachment', 'type', {
  simple: object<SimpleAttachment>('SimpleAttachment', simpleAttachment),
  embeddedResource: object<EmbeddedResourceAttachment>(
    'EmbeddedResourceAttachment',
    embeddedResourceAttachment,
  ),
  resource: object<ResourceAttachment>('ResourceAttachment', resourceAttachment),
  annotations: object<AnnotationsAttachment>('AnnotationsAttachment', annotationsAttachment),
  chat: object<ChatAttachment>('ChatAttachment', chatAttachment),
})
export type MessageAttachment = TypeOf<typeof MessageAttachment>

const messageOrigin = {
  kind: openEnum('MessageKind', ['user', 'agent', 'tool', 'automation', 'systemNotification']),
}
export interface MessageOrigin extends Infer<typeof messageOrigin> {}
export const MessageOrigin = object<MessageOrigin>('MessageOrigin', messageOrigin)

const message = {
  text: string,
  origin: MessageOrigin,
  attachments: optional(array(MessageAttachment)),
  model: optional(ModelSelection),
  agent: optional(AgentSelection),
  ...meta,
}
export interface Message extends Infer<typeof message> {}
export const Message = object<Message>('Message', message)

const pendingMessage = { id, message: Message }
/** A queued or steering message that no turn has taken yet. */
export interface PendingMessage extends Infer<typeof pendingMessage> {}
export const PendingMessage = object<PendingMessage>('PendingMessage', pendingMessage)
