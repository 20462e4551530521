import { Changeset } from '../changeset/state.ts'
import {
  ChangesSummary,
  ErrorInfo,
  StringOrMarkdown,
  UsageInfo,
  contentRefShape,
  meta,
} from '../common/content.ts'
import { array, boolean, id, is, number, object, oneOf, optional, string, variant } from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'
import { SessionStatus } from '../status.ts'
import { Message, PendingMessage } from './message.ts'
import { ChatInputRequest, ChatInputResponse } from './request.ts'
import { ToolCallState } from './tool.ts'

const markdownPart = { kind: is('markdown'), id, content: string }
export interface MarkdownPart extends Infer<typeof markdownPart> {}
export const MarkdownPart: Schema<MarkdownPart> = object('MarkdownResponsePart', markdownPart)

const reasoningPart = { kind: is('reasoning'), id, content: string }
export interface ReasoningPart extends Infer<typeof reasoningPart> {}
export const ReasoningPart: Schema<ReasoningPart> = object('ReasoningResponsePart', reasoningPart)

const toolCallPart = { kind: is('toolCall'), toolCall: ToolCallState }
export interface ToolCallPart extends Infer<typeof toolCallPart> {}
export const ToolCallPart: Schema<ToolCallPart> = object('ToolCallResponsePart', toolCallPart)

const resourcePart = { ...contentRefShape, kind: is('contentRef') }
export interface ResourcePart extends Infer<typeof resourcePart> {}
export const ResourcePart: Schema<ResourcePart> = object('ResourceResponsePart', resourcePart)

const systemNotificationPart = { kind: is('systemNotification'), content: StringOrMarkdown, ...meta }
export interface SystemNotificationPart extends Infer<typeof systemNotificationPart> {}
export const SystemNotificationPart: Schema<SystemNotificationPart> = object(
  'SystemNotificationResponsePart',
  systemNotificationPart,
)

const inputRequestPart = {
  kind: is('inputRequest'),
  request: ChatInputRequest,
  /** Absent while the question is open. */
  response: optional(ChatInputResponse),
}
export interface InputRequestPart extends Infer<typeof inputRequestPart> {}
export const InputRequestPart: Schema<InputRequestPart> = object('InputRequestResponsePart', inputRequestPart)

const errorPart = { kind: is('error'), error: ErrorInfo, resumable: optional(boolean) }
export interface ErrorPart extends Infer<typeof errorPart> {}
export const ErrorPart: Schema<ErrorPart> = object('ErrorResponsePart', errorPart)

export const ResponsePart = variant('ResponsePart', 'kind', {
  markdown: MarkdownPart,
  reasoning: ReasoningPart,
  toolCall: ToolCallPart,
  contentRef: ResourcePart,
  systemNotification: SystemNotificationPart,
  inputRequest: InputRequestPart,
  error: ErrorPart,
})
export type ResponsePart = TypeOf<typeof ResponsePart>

const activeTurn = {
  id,
  startedAt: string,
  message: Message,
  responseParts: array(ResponsePart),
  usage: optional(UsageInfo),
}
export interface ActiveTurn extends Infer<typeof activeTurn> {}
export const ActiveTurn: Schema<ActiveTurn> = object('ActiveTurn', activeTurn)

export const TurnState = oneOf('TurnState', ['complete', 'cancelled', 'error'])
export type TurnState = TypeOf<typeof TurnState>

const turn = {
  ...activeTurn,
  startedAt: optional(string),
  /** Milliseconds, as measured by whoever ended the turn. */
  duration: optional(number),
  state: TurnState,
}
export interface Turn extends Infer<typeof turn> {}
export const Turn: Schema<Turn> = object('Turn', turn)

const sideChatSelection = { text: string, responsePartId: optional(id) }
export interface SideChatSelection extends Infer<typeof sideChatSelection> {}
export const SideChatSelection: Schema<SideChatSelection> = object('SideChatSelection', sideChatSelection)

const atTurn = { chat: id, turnId: id }
/** From which turn of which chat a new one grows: the source named by createChat, and the origin kept for ever. */
export const forkShape = { kind: is('fork'), ...atTurn }
export const sideChatShape = { kind: is('sideChat'), ...atTurn, selection: optional(SideChatSelection) }

export const ChatOrigin = variant('ChatOrigin', 'kind', {
  user: object('ChatUserOrigin', { kind: is('user') }),
  fork: object('ChatForkOrigin', forkShape),
  sideChat: object('ChatSideChatOrigin', sideChatShape),
  tool: object('ChatToolOrigin', { kind: is('tool'), chat: id, toolCallId: id }),
})
export type ChatOrigin = TypeOf<typeof ChatOrigin>

export const ChatInteractivity = oneOf('ChatInteractivity', ['full', 'read-only', 'hidden'])
export type ChatInteractivity = TypeOf<typeof ChatInteractivity>

const work = { id, label: string, startedAt: string, ...meta }
export const BackgroundWork = variant('BackgroundWork', 'kind', {
  shell: object('ShellBackgroundWork', {
    ...work,
    kind: is('shell'),
    command: string,
    terminal: optional(id),
  }),
  subagent: object('SubagentBackgroundWork', { ...work, kind: is('subagent'), chat: id }),
})
export type BackgroundWork = TypeOf<typeof BackgroundWork>

const canvasRef = { resource: id }
export interface CanvasRef extends Infer<typeof canvasRef> {}
export const CanvasRef: Schema<CanvasRef> = object('CanvasReference', canvasRef)

export const chatSummaryShape = {
  resource: id,
  title: string,
  status: SessionStatus,
  activity: optional(string),
  modifiedAt: string,
  changes: optional(ChangesSummary),
  origin: optional(ChatOrigin),
  movable: optional(boolean),
  interactivity: optional(ChatInteractivity),
  workingDirectories: optional(array(id)),
}
/** A chat as its session lists it. */
export interface ChatSummary extends Infer<typeof chatSummaryShape> {}
export const ChatSummary: Schema<ChatSummary> = object('ChatSummary', chatSummaryShape)

const chatState = {
  ...chatSummaryShape,
  changesets: optional(array(Changeset)),
  backgroundWork: optional(array(BackgroundWork)),
  canvases: optional(array(CanvasRef)),
  turns: array(Turn),
  /** Present while older turns exist that are not in `turns`. */
  turnsNextCursor: optional(string),
  activeTurn: optional(ActiveTurn),
  steeringMessage: optional(PendingMessage),
  queuedMessages: optional(array(PendingMessage)),
  draft: optional(Message),
  ...meta,
}
export interface ChatState extends Infer<typeof chatState> {}
export const ChatState: Schema<ChatState> = object('ChatState', chatState)
