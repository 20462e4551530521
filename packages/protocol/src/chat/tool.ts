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
  jsonObject,
  boolean,
  either,
  except,
  id,
  is,
  number,
  object,
  oneOf,
  openEnum,
  optional,
  fraction,
  string,
  variant,
} from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'
import { Message } from './message.ts'

const clientContributor = { kind: is('client'), clientId: id }
export interface ToolCallClientContributor extends Infer<typeof clientContributor> {}

const mcpContributor = { kind: is('mcp'), customizationId: string }
export interface ToolCallMcpContributor extends Infer<typeof mcpContributor> {}

export const ToolCallMcpContributor = object<ToolCallMcpContributor>('ToolCallMcpContributor', mcpContributor)

export const ToolCallContributor = variant('ToolCallContributor', 'kind', {
  client: object<ToolCallClientContributor>('ToolCallClientContributor', clientContributor),
  mcp: ToolCallMcpContributor,
})
export type ToolCallContributor = TypeOf<typeof ToolCallContributor>

const confirmationOption = {
  id,
  label: string,
  kind: openEnum('ConfirmationOptionKind', ['approve', 'deny']),
  group: optional(number),
}
export interface ConfirmationOption extends Infer<typeof confirmationOption> {}
export const ConfirmationOption = object<ConfirmationOption>('ConfirmationOption', confirmationOption)

const judge = { kind: is('judge') }
const riskLoading = { ...judge, status: is('loading') }
export interface ToolCallRiskLoading extends Infer<typeof riskLoading> {}

const riskComplete = {
  ...judge,
  status: is('complete'),
  reason: StringOrMarkdown,
  safety: fraction,
}
export interface ToolCallRiskComplete extends Infer<typeof riskComplete> {}

const judged = variant('ToolCallJudgeAssessment', 'status', {
  loading: object<ToolCallRiskLoading>('ToolCallRiskLoading', riskLoading),
  complete: object<ToolCallRiskComplete>('ToolCallRiskComplete', riskComplete),
})
const unknownAssessment = object('ToolCallUnknownAssessment', { kind: except('judge') })
export type ToolCallRiskAssessment = TypeOf<typeof judged>
export const ToolCallRiskAssessment = either(
  judged,
  unknownAssessment,
  'ToolCallRiskAssessment',
  // The schema also accepts kinds of later versions. The type lists only the known kinds: hence the cast.
) as Schema<ToolCallRiskAssessment>

const toolError = { message: string, code: optional(string) }
export interface ToolCallError extends Infer<typeof toolError> {}
export const ToolCallError = object<ToolCallError>('ToolCallError', toolError)

const commandResult = { exitCode: optional(number), preview: optional(string), truncated: optional(boolean) }
export interface TerminalCommandResult extends Infer<typeof commandResult> {}
export const TerminalCommandResult = object<TerminalCommandResult>('TerminalCommandResult', commandResult)

const textContent = { type: is('text'), text: string }
export interface ToolResultTextContent extends Infer<typeof textContent> {}

const embeddedResourceContent = {
  type: is('embeddedResource'),
  data: string,
  contentType: string,
}
export interface ToolResultEmbeddedResourceContent extends Infer<typeof embeddedResourceContent> {}

const resourceContent = { ...contentRefShape, type: is('resource') }
export interface ToolResultResourceContent extends Infer<typeof resourceContent> {}

const fileEditContent = { ...fileEditShape, type: is('fileEdit') }
export interface ToolResultFileEditContent extends Infer<typeof fileEditContent> {}

const terminalContent = {
  type: is('terminal'),
  resource: id,
  title: string,
  isPty: optional(boolean),
  result: optional(TerminalCommandResult),
}
export interface ToolResultTerminalContent extends Infer<typeof terminalContent> {}

const subagentContent = {
  type: is('subagent'),
  resource: id,
  title: string,
  agentName: optional(string),
  description: optional(string),
}
export interface ToolResultSubagentContent extends Infer<typeof subagentContent> {}

export const ToolResultContent = variant('ToolResultContent', 'type', {
  text: object<ToolResultTextContent>('ToolResultTextContent', textContent),
  embeddedResource: object<ToolResultEmbeddedResourceContent>(
    'ToolResultEmbeddedResourceContent',
    embeddedResourceContent,
  ),
  resource: object<ToolResultResourceContent>('ToolResultResourceContent', resourceContent),
  fileEdit: object<ToolResultFileEditContent>('ToolResultFileEditContent', fileEditContent),
  terminal: object<ToolResultTerminalContent>('ToolResultTerminalContent', terminalContent),
  subagent: object<ToolResultSubagentContent>('ToolResultSubagentContent', subagentContent),
})
export type ToolResultContent = TypeOf<typeof ToolResultContent>

const toolCallResult = {
  success: boolean,
  pastTenseMessage: StringOrMarkdown,
  content: optional(array(ToolResultContent)),
  structuredContent: optional(jsonObject),
  error: optional(ToolCallError),
}
export interface ToolCallResult extends Infer<typeof toolCallResult> {}
export const ToolCallResult = object<ToolCallResult>('ToolCallResult', toolCallResult)

/** The input of a tool: text, or a reference if the text is long. */
export type ToolInput = string | ContentRef
export const ToolInput: Schema<ToolInput> = either(string, ContentRef, 'ToolInput')

export const ConfirmationReason = openEnum('ToolCallConfirmationReason', [
  'not-needed',
  'user-action',
  'setting',
])
export const CancellationReason = oneOf('ToolCallCancellationReason', ['denied', 'skipped', 'result-denied'])

/** The keys of a tool call in every status. */
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
export const ToolCallStreaming = object<ToolCallStreaming>('ToolCallStreamingState', streaming)

const pendingConfirmation = { ...invoked, ...confirmationShape, status: is('pending-confirmation') }
export interface ToolCallPendingConfirmation extends Infer<typeof pendingConfirmation> {}
export const ToolCallPendingConfirmation = object<ToolCallPendingConfirmation>(
  'ToolCallPendingConfirmationState',
  pendingConfirmation,
)

const running = { ...confirmed, status: is('running'), content: optional(array(ToolResultContent)) }
export interface ToolCallRunning extends Infer<typeof running> {}
export const ToolCallRunning = object<ToolCallRunning>('ToolCallRunningState', running)

const authRequired = {
  ...confirmed,
  contributor: ToolCallMcpContributor,
  status: is('auth-required'),
  content: optional(array(ToolResultContent)),
  auth: McpAuthRequirement,
}
export interface ToolCallAuthRequired extends Infer<typeof authRequired> {}
export const ToolCallAuthRequired = object<ToolCallAuthRequired>('ToolCallAuthRequiredState', authRequired)

const pendingResult = { ...confirmed, ...toolCallResult, status: is('pending-result-confirmation') }
export interface ToolCallPendingResult extends Infer<typeof pendingResult> {}
export const ToolCallPendingResult = object<ToolCallPendingResult>(
  'ToolCallPendingResultConfirmationState',
  pendingResult,
)

const completed = { ...confirmed, ...toolCallResult, status: is('completed') }
export interface ToolCallCompleted extends Infer<typeof completed> {}
export const ToolCallCompleted = object<ToolCallCompleted>('ToolCallCompletedState', completed)

const cancelled = {
  ...invoked,
  status: is('cancelled'),
  reason: CancellationReason,
  reasonMessage: optional(StringOrMarkdown),
  userSuggestion: optional(Message),
  selectedOption: optional(ConfirmationOption),
}
export interface ToolCallCancelled extends Infer<typeof cancelled> {}
export const ToolCallCancelled = object<ToolCallCancelled>('ToolCallCancelledState', cancelled)

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
