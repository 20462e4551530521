import { McpAuthRequirement } from '../common/auth.ts'
import {
  ContentRef,
  FileEditCollection,
  StringOrMarkdown,
  contentRefShape,
  fileEditShape,
  meta,
} from '../common/content.ts'
import {
  array,
  bag,
  boolean,
  either,
  id,
  is,
  number,
  object,
  oneOf,
  openEnum,
  optional,
  string,
  variant,
} from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'
import { Message } from './message.ts'

export const ToolCallContributor = variant('ToolCallContributor', 'kind', {
  client: object('ToolCallClientContributor', { kind: is('client'), clientId: id }),
  mcp: object('ToolCallMcpContributor', { kind: is('mcp'), customizationId: id }),
})
export type ToolCallContributor = TypeOf<typeof ToolCallContributor>

const confirmationOption = {
  id,
  label: string,
  kind: openEnum('ConfirmationOptionKind', ['approve', 'deny']),
  group: optional(number),
}
export interface ConfirmationOption extends Infer<typeof confirmationOption> {}
export const ConfirmationOption: Schema<ConfirmationOption> = object('ConfirmationOption', confirmationOption)

const judge = { kind: is('judge') }
const judged = variant('ToolCallJudgeAssessment', 'status', {
  loading: object('ToolCallRiskLoading', { ...judge, status: is('loading') }),
  complete: object('ToolCallRiskComplete', {
    ...judge,
    status: is('complete'),
    reason: StringOrMarkdown,
    safety: number,
  }),
})
const unknownAssessment = object('ToolCallUnknownAssessment', { kind: string })
export type ToolCallRiskAssessment = TypeOf<typeof judged>
export const ToolCallRiskAssessment = either(
  judged,
  unknownAssessment,
  'ToolCallRiskAssessment',
) as Schema<ToolCallRiskAssessment>

const toolError = { message: string, code: optional(string) }
export interface ToolCallError extends Infer<typeof toolError> {}
export const ToolCallError: Schema<ToolCallError> = object('ToolCallError', toolError)

const commandResult = { exitCode: optional(number), preview: optional(string), truncated: optional(boolean) }
export interface TerminalCommandResult extends Infer<typeof commandResult> {}
export const TerminalCommandResult: Schema<TerminalCommandResult> = object(
  'TerminalCommandResult',
  commandResult,
)

export const ToolResultContent = variant('ToolResultContent', 'type', {
  text: object('ToolResultTextContent', { type: is('text'), text: string }),
  embeddedResource: object('ToolResultEmbeddedResourceContent', {
    type: is('embeddedResource'),
    data: string,
    contentType: string,
  }),
  resource: object('ToolResultResourceContent', { ...contentRefShape, type: is('resource') }),
  fileEdit: object('ToolResultFileEditContent', { ...fileEditShape, type: is('fileEdit') }),
  terminal: object('ToolResultTerminalContent', {
    type: is('terminal'),
    resource: id,
    title: string,
    isPty: optional(boolean),
    result: optional(TerminalCommandResult),
  }),
  subagent: object('ToolResultSubagentContent', {
    type: is('subagent'),
    resource: id,
    title: string,
    agentName: optional(string),
    description: optional(string),
  }),
})
export type ToolResultContent = TypeOf<typeof ToolResultContent>

const toolCallResult = {
  success: boolean,
  pastTenseMessage: StringOrMarkdown,
  content: optional(array(ToolResultContent)),
  structuredContent: optional(bag),
  error: optional(ToolCallError),
}
export interface ToolCallResult extends Infer<typeof toolCallResult> {}
export const ToolCallResult: Schema<ToolCallResult> = object('ToolCallResult', toolCallResult)

/** Text, or a reference when it is long. */
export type ToolInput = string | ContentRef
export const ToolInput: Schema<ToolInput> = either(string, ContentRef, 'ToolInput')

export const ConfirmationReason = openEnum('ToolCallConfirmationReason', [
  'not-needed',
  'user-action',
  'setting',
])
export const CancellationReason = oneOf('ToolCallCancellationReason', ['denied', 'skipped', 'result-denied'])

/** What every tool call has, in every status. */
const base = {
  toolCallId: id,
  toolName: string,
  displayName: string,
  intention: optional(string),
  contributor: optional(ToolCallContributor),
  ...meta,
}
const invoked = { ...base, invocationMessage: StringOrMarkdown, toolInput: optional(ToolInput) }
const confirmed = {
  ...invoked,
  confirmed: ConfirmationReason,
  selectedOption: optional(ConfirmationOption),
}
export const confirmationShape = {
  confirmationTitle: optional(StringOrMarkdown),
  riskAssessment: optional(ToolCallRiskAssessment),
  edits: optional(FileEditCollection),
  editable: optional(boolean),
  options: optional(array(ConfirmationOption)),
}

const streaming = {
  ...base,
  status: is('streaming'),
  partialInput: optional(string),
  invocationMessage: optional(StringOrMarkdown),
}
export interface ToolCallStreaming extends Infer<typeof streaming> {}
export const ToolCallStreaming: Schema<ToolCallStreaming> = object('ToolCallStreamingState', streaming)

const pendingConfirmation = { ...invoked, ...confirmationShape, status: is('pending-confirmation') }
export interface ToolCallPendingConfirmation extends Infer<typeof pendingConfirmation> {}
export const ToolCallPendingConfirmation: Schema<ToolCallPendingConfirmation> = object(
  'ToolCallPendingConfirmationState',
  pendingConfirmation,
)

const running = { ...confirmed, status: is('running'), content: optional(array(ToolResultContent)) }
export interface ToolCallRunning extends Infer<typeof running> {}
export const ToolCallRunning: Schema<ToolCallRunning> = object('ToolCallRunningState', running)

const authRequired = {
  ...confirmed,
  status: is('auth-required'),
  content: optional(array(ToolResultContent)),
  auth: McpAuthRequirement,
}
export interface ToolCallAuthRequired extends Infer<typeof authRequired> {}
export const ToolCallAuthRequired: Schema<ToolCallAuthRequired> = object(
  'ToolCallAuthRequiredState',
  authRequired,
)

const pendingResult = { ...confirmed, ...toolCallResult, status: is('pending-result-confirmation') }
export interface ToolCallPendingResult extends Infer<typeof pendingResult> {}
export const ToolCallPendingResult: Schema<ToolCallPendingResult> = object(
  'ToolCallPendingResultConfirmationState',
  pendingResult,
)

const completed = { ...confirmed, ...toolCallResult, status: is('completed') }
export interface ToolCallCompleted extends Infer<typeof completed> {}
export const ToolCallCompleted: Schema<ToolCallCompleted> = object('ToolCallCompletedState', completed)

const cancelled = {
  ...invoked,
  status: is('cancelled'),
  reason: CancellationReason,
  reasonMessage: optional(StringOrMarkdown),
  userSuggestion: optional(Message),
  selectedOption: optional(ConfirmationOption),
}
export interface ToolCallCancelled extends Infer<typeof cancelled> {}
export const ToolCallCancelled: Schema<ToolCallCancelled> = object('ToolCallCancelledState', cancelled)

export const ToolCallState = variant('ToolCallState', 'status', {
  streaming: ToolCallStreaming,
  'pending-confirmation': ToolCallPendingConfirmation,
  running: ToolCallRunning,
  'auth-required': ToolCallAuthRequired,
  'pending-result-confirmation': ToolCallPendingResult,
  completed: ToolCallCompleted,
  cancelled: ToolCallCancelled,
})
export type ToolCallState = TypeOf<typeof ToolCallState>
