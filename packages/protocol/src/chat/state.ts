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
import type { Infer, TypeOf } from '../schema.ts'
import { SessionStatus } from '../common/status.ts'
import { Message, PendingMessage } from './message.ts'
import { ChatInputRequest, ChatInputResponse } from './request.ts'
import { ToolCallState } from './tool.ts'

const markdownPart = { kind: is('markdown'), id, content: string }
export interface MarkdownPart extends Infer<typeof markdownPart> {}
export const MarkdownPart = object<MarkdownPart>('MarkdownResponsePart', markdownPart)

const reasoningPart = { kind: is('reasoning'), id, content: string }
export interface ReasoningPart extends Infer<typeof reasoningPart> {}
export const ReasoningPart = object<ReasoningPart>('ReasoningResponsePart', reasoningPart)

const toolCallPart = { kind: is('toolCall'), toolCall: ToolCallState }
export interface ToolCallPart extends Infer<typeof toolCallPart> {}
export const ToolCallPart = object<ToolCallPart>('ToolCallResponsePart', toolCallPart)

const resourcePart = { ...contentRefShape, kind: is('contentRef') }
export interface ResourcePart extends Infer<typeof resourcePart> {}
export const ResourcePart = object<ResourcePart>('ResourceResponsePart', resourcePart)

const systemNotificationPart = { kind: is('systemNotification'), content: StringOrMarkdown, ...meta }
export interface SystemNotificationPart extends Infer<typeof systemNotificationPart> {}
export const SystemNotificationPart = object<SystemNotificationPart>(
  'SystemNotificationResponsePart',
  systemNotificationPart,
)

const inputRequestPart = {
  kind: is('inputRequest'),
  request: ChatInputRequest,
  /** Absent while the request is open. */
  response: optional(ChatInputResponse),
}
export interface InputRequestPart extends Infer<typeof inputRequestPart> {}
export const InputRequestPart = object<InputRequestPart>('InputRequestResponsePart', inputRequestPart)

const errorPart = { kind: is('error'), error: ErrorInfo, resumable: optional(boolean) }
export interface ErrorPart extends Infer<typeof errorPart> {}
export const ErrorPart = object<ErrorPart>('ErrorResponsePart', errorPart)

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
export const ActiveTurn = object<ActiveTurn>('ActiveTurn', activeTurn)

export const TurnState = oneOf('TurnState', ['complete', 'cancelled', 'error'])
export type TurnState = TypeOf<typeof TurnState>

const turn = {
  ...activeTurn,
  startedAt: optional(string),
  /** Milliseconds, measured by the side that ended the turn. */
  duration: optional(number),
  state: TurnState,
}
export interface Turn extends Infer<typeof turn> {}
export const Turn = object<Turn>('Turn', turn)

const sideChatSelection = { text: string, responsePartId: optional(id) }
export interface SideChatSelection extends Infer<typeof sideChatSelection> {}
export const SideChatSelection = object<SideChatSelection>('SideChatSelection', sideChatSelection)

const atTurn = { chat: id, turnId: id }
/**
 * The chat and the turn that a fork is made from. It is the source in `createChat`, and the origin in the state of
 * the new chat.
 */
export const forkShape = { kind: is('fork'), ...atTurn }
export const sideChatShape = { kind: is('sideChat'), ...atTurn, selection: optional(SideChatSelection) }

const chatUserOrigin = { kind: is('user') }
export interface ChatUserOrigin extends Infer<typeof chatUserOrigin> {}

export interface ChatForkOrigin extends Infer<typeof forkShape> {}
export interface ChatSideChatOrigin extends Infer<typeof sideChatShape> {}
const chatToolOrigin = { kind: is('tool'), chat: id, toolCallId: id }
export interface ChatToolOrigin extends Infer<typeof chatToolOrigin> {}

export const ChatOrigin = variant('ChatOrigin', 'kind', {
  user: object<ChatUserOrigin>('ChatUserOrigin', chatUserOrigin),
  fork: object<ChatForkOrigin>('ChatForkOrigin', forkShape),
  sideChat: object<ChatSideChatOrigin>('ChatSideChatOrigin', sideChatShape),
  tool: object<ChatToolOrigin>('ChatToolOrigin', chatToolOrigin),
})
export type ChatOrigin = TypeOf<typeof ChatOrigin>

export const ChatInteractivity = oneOf('ChatInteractivity', ['full', 'read-only', 'hidden'])
export type ChatInteractivity = TypeOf<typeof ChatInteractivity>

const work = { id, label: string, startedAt: string, ...meta }
const shellBackgroundWork = {
  ...work,
  kind: is('shell'),
  command: string,
  terminal: optional(id),
}
export interface ShellBackgroundWork extends Infer<typeof shellBackgroundWork> {}

const subagentBackgroundWork = { ...work, kind: is('subagent'), chat: id }
export interface SubagentBackgroundWork extends Infer<typeof subagentBackgroundWork> {}

export const BackgroundWork = variant('BackgroundWork', 'kind', {
  shell: object<ShellBackgroundWork>('ShellBackgroundWork', shellBackgroundWork),
  subagent: object<SubagentBackgroundWork>('SubagentBackgroundWork', subagentBackgroundWork),
})
export type BackgroundWork = TypeOf<typeof BackgroundWork>

const canvasRef = { resource: id }
export interface CanvasRef extends Infer<typeof canvasRef> {}
export const CanvasRef = object<CanvasRef>('CanvasReference', canvasRef)

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
/** A chat in the list of its session. */
export interface ChatSummary extends Infer<typeof chatSummaryShape> {}
export const ChatSummary = object<ChatSummary>('ChatSummary', chatSummaryShape)

const chatState = {
  ...chatSummaryShape,
  changesets: optional(array(Changeset)),
  backgroundWork: optional(array(BackgroundWork)),
  canvases: optional(array(CanvasRef)),
  turns: array(Turn),
  /** Present if there are older turns that are not in `turns`. */
  turnsNextCursor: optional(string),
  activeTurn: optional(ActiveTurn),
  steeringMessage: optional(PendingMessage),
  queuedMessages: optional(array(PendingMessage)),
  draft: optional(Message),
  ...meta,
}
export interface ChatState extends Infer<typeof chatState> {}
export const ChatState = object<ChatState>('ChatState', chatState)
