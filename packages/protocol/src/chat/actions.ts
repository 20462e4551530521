import { client, clientEither, host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { Changeset } from '../changeset/state.ts'
import { McpAuthRequirement } from '../common/auth.ts'
import { StringOrMarkdown, UsageInfo, meta } from '../common/content.ts'
import {
  array,
  boolean,
  id,
  instant,
  is,
  number,
  oneOf,
  optional,
  optionalNotNull,
  record,
  string,
} from '../schema.ts'
import { Message } from './message.ts'
import { ChatInputAnswer, ChatInputRequest, ChatInputResponse } from './request.ts'
import { BackgroundWork, CanvasRef, ErrorPart, ResponsePart, Turn } from './state.ts'
import {
  CancellationReason,
  ConfirmationReason,
  ToolCallContributor,
  ToolCallResult,
  ToolInput,
  ToolResultContent,
  confirmationShape,
} from './tool.ts'

const inTurn = { turnId: id, ...meta }
const ending = { ...inTurn, duration: number }
const text = { ...inTurn, partId: id, content: string }

export const turnActions = {
  'chat/turnStarted': client({
    ...inTurn,
    startedAt: instant,
    message: Message,
    queuedMessageId: optional(id),
  }),
  'chat/delta': host(text, 'relaxed'),
  'chat/reasoning': host(text, 'relaxed'),
  'chat/responsePart': host({ ...inTurn, part: ResponsePart }),
  'chat/usage': host({ ...inTurn, usage: UsageInfo }),
  'chat/turnComplete': host(ending),
  'chat/turnCancelled': client(ending),
  'chat/error': host({ ...ending, part: ErrorPart }),
  'chat/turnResume': client(inTurn),
  // An absent turnId clears the chat. Null is refused, so that no client clears a chat by accident.
  'chat/truncated': client({ turnId: optionalNotNull(id) }),
  'chat/turnsLoaded': host({ turns: array(Turn), turnsNextCursor: optional(string) }, 'ephemeral'),
}
export type TurnAction = ActionsOf<typeof turnActions>

const call = { ...inTurn, toolCallId: id }

export const toolCallActions = {
  'chat/toolCallStart': host({
    ...call,
    toolName: string,
    displayName: string,
    intention: optional(string),
    contributor: optional(ToolCallContributor),
  }),
  'chat/toolCallDelta': host(
    { ...call, content: optional(string), invocationMessage: optional(StringOrMarkdown) },
    'relaxed',
  ),
  'chat/toolCallReady': host({
    ...call,
    ...confirmationShape,
    invocationMessage: StringOrMarkdown,
    contributor: optional(ToolCallContributor),
    intention: optional(string),
    toolInput: optional(ToolInput),
    confirmed: optional(ConfirmationReason),
  }),
  'chat/toolCallConfirmed': clientEither(
    {
      ...call,
      approved: is(true),
      confirmed: ConfirmationReason,
      editedToolInput: optional(string),
      selectedOptionId: optional(id),
    },
    {
      ...call,
      approved: is(false),
      reason: CancellationReason,
      reasonMessage: optional(StringOrMarkdown),
      userSuggestion: optional(Message),
      selectedOptionId: optional(id),
    },
  ),
  'chat/toolCallComplete': client({
    ...call,
    result: ToolCallResult,
    requiresResultConfirmation: optional(boolean),
  }),
  'chat/toolCallResultConfirmed': client({ ...call, approved: boolean }),
  'chat/toolCallContentChanged': client({ ...call, content: array(ToolResultContent) }),
  'chat/toolCallAuthRequired': host({ ...call, auth: McpAuthRequirement }),
  'chat/toolCallAuthResolved': host(call),
}
export type ToolCallAction = ActionsOf<typeof toolCallActions>

export const inputActions = {
  'chat/inputRequested': host({ request: ChatInputRequest, ...meta }),
  'chat/inputAnswerChanged': client({ requestId: id, questionId: id, answer: optional(ChatInputAnswer) }),
  'chat/inputCompleted': client({
    requestId: id,
    response: ChatInputResponse,
    answers: optional(record(ChatInputAnswer)),
  }),
}
export type InputAction = ActionsOf<typeof inputActions>

const PendingMessageKind = oneOf('PendingMessageKind', ['steering', 'queued'])

export const pendingMessageActions = {
  'chat/pendingMessageSet': client({ kind: PendingMessageKind, id, message: Message }),
  'chat/pendingMessageRemoved': client({ kind: PendingMessageKind, id }),
  'chat/queuedMessagesReordered': client({ order: array(id) }),
}
export type PendingMessageAction = ActionsOf<typeof pendingMessageActions>

export const propertyActions = {
  'chat/activityChanged': host({ activity: optional(string) }),
  'chat/draftChanged': client({ draft: optional(Message) }),
  'chat/isReadChanged': client({ isRead: boolean }),
  'chat/isArchivedChanged': client({ isArchived: boolean }),
  'chat/movableChanged': host({ movable: boolean }),
  'chat/backgroundWorkSet': host({ work: BackgroundWork }),
  'chat/backgroundWorkRemoved': host({ id }),
  'chat/changesetsChanged': host({ changesets: optional(array(Changeset)) }),
  'chat/canvasesChanged': host({ canvases: optional(array(CanvasRef)) }),
  'chat/workingDirectorySet': client({ directory: id }),
  'chat/workingDirectoryRemoved': client({ directory: id }),
}
export type PropertyAction = ActionsOf<typeof propertyActions>

export const chatActions = {
  ...turnActions,
  ...toolCallActions,
  ...inputActions,
  ...pendingMessageActions,
  ...propertyActions,
}
export type ChatAction = ActionsOf<typeof chatActions>
