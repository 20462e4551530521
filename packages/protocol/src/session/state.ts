import { Changeset } from '../changeset/state.ts'
import { ChatInteractivity, ChatOrigin, ChatSummary } from '../chat/state.ts'
import { ChatInputRequest } from '../chat/request.ts'
import {
  ToolCallAuthRequired,
  ToolCallPendingConfirmation,
  ToolCallPendingResult,
  ToolCallRunning,
} from '../chat/tool.ts'
import { SessionConfigState } from '../common/config.ts'
import { ChangesSummary, ErrorInfo, meta } from '../common/content.ts'
import {
  array,
  jsonObject,
  boolean,
  id,
  is,
  natural,
  object,
  openEnum,
  optional,
  string,
  variant,
} from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'
import { SessionStatus } from '../common/status.ts'
import { ClientPluginCustomization, Customization } from './customization.ts'

const toolAnnotations = {
  title: optional(string),
  readOnlyHint: optional(boolean),
  destructiveHint: optional(boolean),
  idempotentHint: optional(boolean),
  openWorldHint: optional(boolean),
}
export interface ToolAnnotations extends Infer<typeof toolAnnotations> {}
export const ToolAnnotations = object<ToolAnnotations>('ToolAnnotations', toolAnnotations)

const toolDefinition = {
  name: string,
  title: optional(string),
  description: optional(string),
  inputSchema: optional(jsonObject),
  outputSchema: optional(jsonObject),
  annotations: optional(ToolAnnotations),
  ...meta,
}
export interface ToolDefinition extends Infer<typeof toolDefinition> {}
export const ToolDefinition = object<ToolDefinition>('ToolDefinition', toolDefinition)

const activeClient = {
  clientId: id,
  displayName: optional(string),
  tools: array(ToolDefinition),
  customizations: optional(array(ClientPluginCustomization)),
}
/** A client that takes part in a session, with the tools and plugins that it offers to the session. */
export interface SessionActiveClient extends Infer<typeof activeClient> {}
export const SessionActiveClient = object<SessionActiveClient>('SessionActiveClient', activeClient)

const needed = { id, chat: id }
const neededInTurn = { ...needed, turnId: id }
const ConfirmableToolCall = variant(
  'ConfirmableToolCall',
  'status',
  {
    'pending-confirmation': ToolCallPendingConfirmation,
    'pending-result-confirmation': ToolCallPendingResult,
  },
  ['streaming', 'running', 'auth-required', 'completed', 'cancelled'],
)

const sessionChatInputRequest = {
  ...needed,
  kind: is('chatInput'),
  request: ChatInputRequest,
}
export interface SessionChatInputRequest extends Infer<typeof sessionChatInputRequest> {}

const sessionToolConfirmationRequest = {
  ...neededInTurn,
  kind: is('toolConfirmation'),
  toolCall: ConfirmableToolCall,
}
export interface SessionToolConfirmationRequest extends Infer<typeof sessionToolConfirmationRequest> {}

const sessionToolClientExecutionRequest = {
  ...neededInTurn,
  kind: is('toolClientExecution'),
  clientId: id,
  toolCall: ToolCallRunning,
}
export interface SessionToolClientExecutionRequest extends Infer<typeof sessionToolClientExecutionRequest> {}

const sessionToolAuthenticationRequest = {
  ...neededInTurn,
  kind: is('toolAuthentication'),
  toolCall: ToolCallAuthRequired,
}
export interface SessionToolAuthenticationRequest extends Infer<typeof sessionToolAuthenticationRequest> {}

export const SessionInputRequest = variant('SessionInputRequest', 'kind', {
  chatInput: object<SessionChatInputRequest>('SessionChatInputRequest', sessionChatInputRequest),
  toolConfirmation: object<SessionToolConfirmationRequest>(
    'SessionToolConfirmationRequest',
    sessionToolConfirmationRequest,
  ),
  toolClientExecution: object<SessionToolClientExecutionRequest>(
    'SessionToolClientExecutionRequest',
    sessionToolClientExecutionRequest,
  ),
  toolAuthentication: object<SessionToolAuthenticationRequest>(
    'SessionToolAuthenticationRequest',
    sessionToolAuthenticationRequest,
  ),
})
/** A request in a chat that waits for a user or client. The session lists it for clients that have not opened the chat. */
export type SessionInputRequest = TypeOf<typeof SessionInputRequest>

const sessionAutomationOrigin = { kind: is('automation'), automation: id, run: id }
export interface SessionAutomationOrigin extends Infer<typeof sessionAutomationOrigin> {}

export const SessionOrigin = variant('SessionOrigin', 'kind', {
  automation: object<SessionAutomationOrigin>('SessionAutomationOrigin', sessionAutomationOrigin),
})
export type SessionOrigin = TypeOf<typeof SessionOrigin>

const project = { uri: id, displayName: string }
export interface ProjectInfo extends Infer<typeof project> {}
export const ProjectInfo = object<ProjectInfo>('ProjectInfo', project)

const annotations = { resource: id, annotationCount: natural, entryCount: natural }
export interface AnnotationsSummary extends Infer<typeof annotations> {}
export const AnnotationsSummary = object<AnnotationsSummary>('AnnotationsSummary', annotations)

/** The keys that the state of a session and its entry in the session list share. */
const metadata = {
  provider: string,
  title: string,
  status: SessionStatus,
  activity: optional(string),
  origin: optional(SessionOrigin),
  project: optional(ProjectInfo),
  workingDirectories: optional(array(id)),
  annotations: optional(AnnotationsSummary),
}

const sessionState = {
  ...metadata,
  lifecycle: openEnum('SessionLifecycle', ['creating', 'ready', 'failed']),
  creationError: optional(ErrorInfo),
  serverTools: optional(array(ToolDefinition)),
  activeClients: array(SessionActiveClient),
  chats: array(ChatSummary),
  defaultChat: optional(id),
  config: optional(SessionConfigState),
  customizations: optional(array(Customization)),
  changesets: optional(array(Changeset)),
  inputNeeded: optional(array(SessionInputRequest)),
  ...meta,
}
export interface SessionState extends Infer<typeof sessionState> {}
export const SessionState = object<SessionState>('SessionState', sessionState)

const sessionChatSummary = {
  resource: id,
  title: string,
  origin: optional(ChatOrigin),
  interactivity: optional(ChatInteractivity),
  /** Absent if the status is unknown. Then it is also unknown whether the chat is read and whether it is archived. */
  status: optional(SessionStatus),
  changes: optional(ChangesSummary),
}
export interface SessionChatSummary extends Infer<typeof sessionChatSummary> {}
export const SessionChatSummary = object<SessionChatSummary>('SessionChatSummary', sessionChatSummary)

const mutable = {
  ...metadata,
  modifiedAt: string,
  changes: optional(ChangesSummary),
  chats: optional(array(SessionChatSummary)),
  defaultChat: optional(id),
  ...meta,
}
const sessionSummary = { ...mutable, resource: id, createdAt: string }
/** A session as the session list shows it. */
export interface SessionSummary extends Infer<typeof sessionSummary> {}
export const SessionSummary = object<SessionSummary>('SessionSummary', sessionSummary)

// The provider of a session never changes, so the changes of a summary cannot contain it.
const { provider: _, ...changeable } = mutable
const summaryChanges = {
  ...changeable,
  title: optional(string),
  status: optional(SessionStatus),
  modifiedAt: optional(string),
}
export interface SessionSummaryChanges extends Infer<typeof summaryChanges> {}
export const SessionSummaryChanges = object<SessionSummaryChanges>('PartialSessionSummary', summaryChanges)
