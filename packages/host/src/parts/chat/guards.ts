import type { Action } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { endOf } from '@atrium/protocol/chat/clock'
import type { Message } from '@atrium/protocol/chat/message'
import type { ChatState, InputRequestPart } from '@atrium/protocol/chat/state'
import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import { isWritable, sessionOf } from '../../catalog/lookup.ts'
import { answerProblem, answersProblem, acceptProblem } from './answers.ts'
import { whyNotSaved } from '../tools/approval.ts'
import { attachmentProblem } from '../turn/pin.ts'
import { asks, clientTool } from '../tools/offered-tools.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { Dispatcher } from '../../kernel/log/options.ts'
import { lengthOf } from '../../kernel/log/rows.ts'
import type { Guards } from '../../kernel/rules.ts'

const noTurn = 'no such turn is in progress'
const noRequest = 'no such input request is open'

export const chatGuards: Guards<'chat'> = {
  'chat/turnStarted': ({ turnId, message, queuedMessageId }, { state, core, channel: chat }) => {
    if (state.activeTurn) return 'a turn is in progress: cancel it, or queue the message'
    if (chat.has(turnId)) return 'this chat had a turn with that id already'
    if (queuedMessageId !== undefined && !isPending(state, queuedMessageId))
      return 'this chat has no pending message with that id'
    return originProblem(message) ?? writeProblem(core, chat) ?? attachmentProblem(core, message)
  },
  'chat/turnCancelled': ({ turnId, duration }, { state: { activeTurn } }) => {
    if (activeTurn?.id !== turnId) return noTurn
    return endOf(activeTurn.startedAt, duration) === undefined ? 'the duration is invalid' : undefined
  },
  'chat/turnResume': ({ turnId }, { state: { activeTurn, turns }, core, channel: chat }) => {
    if (activeTurn) return 'a turn is in progress: wait for its end, or cancel it'
    const last = turns.at(-1)
    const part = last?.responseParts.at(-1)
    if (last?.id !== turnId || last.state !== 'error')
      return 'only the last turn can be resumed, and only after an error'
    if (part?.kind !== 'error' || part.resumable !== true) return 'this turn cannot be resumed'
    if (lengthOf(last) > core.limits.stateLength)
      return 'this turn is too large to be resumed: start a new one'
    return writeProblem(core, chat)
  },
  'chat/truncated': ({ turnId }, { core, channel: chat }) =>
    turnId === undefined || chat.has(turnId) ? writeProblem(core, chat) : 'this chat has no such turn',

  'chat/toolCallConfirmed': (action, { state, core, channel: chat, by }) => {
    const call = callOf(state, action)
    if (typeof call === 'string') return call
    if (call.status !== 'pending-confirmation') return 'this tool call is not waiting for confirmation'
    const session = sessionOf(core, chat.uri)
    // Only an agent says `not-needed`, and the client that runs the call.
    if (action.approved && action.confirmed === 'not-needed' && !mayConfirmOwn(call, by, session))
      return 'a tool call that asks for confirmation needs a user or a setting to confirm it'
    if (!action.approved && action.reason === 'result-denied') return 'this tool call has no result yet'
    return (
      optionProblem(call.options, action) ??
      editProblem(call, action) ??
      (session && whyNotSaved({ core, session, chat }, action)) ??
      attachmentProblem(core, 'userSuggestion' in action ? action.userSuggestion : undefined)
    )
  },
  'chat/toolCallResultConfirmed': (action, { state }) => {
    const call = callOf(state, action)
    if (typeof call === 'string') return call
    return call.status === 'pending-result-confirmation'
      ? undefined
      : 'the result of this tool call is not waiting for confirmation'
  },
  'chat/toolCallComplete': (action, { state, by }) => {
    const call = callOf(state, action)
    if (typeof call === 'string') return call
    if (call.status === 'auth-required')
      return action.result.success ? 'this tool call is waiting for authentication' : undefined
    return clientToolProblem(call, by)
  },
  'chat/toolCallContentChanged': (action, { state, by }) => {
    const call = callOf(state, action)
    return typeof call === 'string' ? call : clientToolProblem(call, by)
  },

  'chat/inputAnswerChanged': ({ requestId, questionId, answer }, { state }) => {
    const part = openRequest(state, requestId)
    return part ? answerProblem(part.request, questionId, answer) : noRequest
  },
  'chat/inputCompleted': ({ requestId, response, answers }, { state }) => {
    const part = openRequest(state, requestId)
    if (!part) return noRequest
    const problem = answersProblem(part.request, answers)
    return problem ?? (response === 'accept' ? acceptProblem(part.request, answers) : undefined)
  },

  'chat/pendingMessageSet': ({ kind, id, message }, { state, core, channel: chat }) => {
    const { steeringMessage, queuedMessages = [] } = state
    const steers = kind === 'steering'
    const others = queuedMessages.filter((pending) => steers || pending.id !== id)
    if (steeringMessage && !steers) others.push(steeringMessage)
    // A turn that starts from a pending message removes every pending message of that id, steering or queued. So two
    // different messages must not share an id.
    if (others.some((pending) => pending.id === id && !equal(pending.message, message)))
      return 'another pending message of this chat has that id'
    // Pending messages are part of every snapshot, and a snapshot that is too long could not be sent to any client.
    const length = others.reduce((sum, pending) => sum + lengthOf(pending.message), lengthOf(message))
    if (length > core.limits.pendingLength)
      return `the pending messages of a chat have at most ${core.limits.pendingLength} characters`
    return originProblem(message) ?? writeProblem(core, chat) ?? attachmentProblem(core, message)
  },
  'chat/pendingMessageRemoved': ({ kind, id }, { state }) => {
    const exists =
      kind === 'steering'
        ? state.steeringMessage?.id === id
        : state.queuedMessages?.some((message) => message.id === id)
    return exists ? undefined : 'this chat has no such pending message'
  },
  'chat/queuedMessagesReordered': (_, { state }) =>
    state.queuedMessages ? undefined : 'this chat has no queued messages',

  'chat/draftChanged': ({ draft }, { core, channel: chat }) =>
    (draft && originProblem(draft)) ?? writeProblem(core, chat),
  'chat/workingDirectorySet': ({ directory }, { core, channel: chat }) => {
    const session = sessionOf(core, chat.uri)?.head
    return session?.workingDirectories?.includes(directory)
      ? undefined
      : 'this is not a working directory of the session'
  },
  'chat/workingDirectoryRemoved': ({ directory }, { state: { workingDirectories } }) =>
    workingDirectories?.includes(directory) ? undefined : 'this is not a working directory of the chat',
}

function originProblem({ origin }: Message): string | undefined {
  return origin.kind === 'user' ? undefined : 'a client can only send messages of its user'
}

/** Returns the reason why users cannot write in a chat; undefined if they can. */
function writeProblem(core: Core, chat: Channel<'chat'>): string | undefined {
  const session = sessionOf(core, chat.uri)
  if (!session) return undefined
  if (session.head.lifecycle === 'failed') return 'this session could not be created'
  return isWritable(session, chat.uri) ? undefined : 'this chat is read-only'
}

function isPending({ queuedMessages = [], steeringMessage }: ChatState, id: string): boolean {
  return steeringMessage?.id === id || queuedMessages.some((message) => message.id === id)
}

/** The tool call that an action names, or the reason why there is none. */
function callOf(
  { activeTurn }: ChatState,
  { turnId, toolCallId }: Action & { readonly turnId: string; readonly toolCallId: string },
): ToolCallState | string {
  if (activeTurn?.id !== turnId) return noTurn
  for (const part of activeTurn.responseParts)
    if (part.kind === 'toolCall' && part.toolCall.toolCallId === toolCallId) return part.toolCall
  return 'this turn has no such tool call'
}

/**
 * Returns the problem with a selected option, if there is one. It must have been offered, and must agree with
 * `approved`.
 */
function optionProblem(
  options: readonly ConfirmationOption[] = [],
  { approved, selectedOptionId: chosen }: Confirmation,
): string | undefined {
  if (chosen === undefined) return undefined
  const option = options.find(({ id }) => id === chosen)
  if (!option) return 'this option was not offered'
  const implied = option.kind === 'approve' ? true : option.kind === 'deny' ? false : approved
  return implied === approved ? undefined : 'the selected option contradicts `approved`'
}

function editProblem(
  { editable, toolInput }: { readonly editable?: boolean; readonly toolInput?: unknown },
  answer: Confirmation,
): string | undefined {
  if (!answer.approved || answer.editedToolInput === undefined) return undefined
  if (!editable) return 'the input of this tool call cannot be edited'
  if (toolInput === undefined) return 'this tool call has no input to edit'
  return typeof toolInput === 'string'
    ? undefined
    : 'the input of this tool call is stored outside the state, and cannot be edited'
}

type Confirmation = Extract<ChatAction, { readonly type: 'chat/toolCallConfirmed' }>

function clientToolProblem({ status, contributor }: ToolCallState, by: Dispatcher): string | undefined {
  if (contributor?.kind !== 'client' || contributor.clientId !== by.clientId)
    return 'only the client that provides a tool can report its progress and result'
  return status === 'running' ? undefined : 'this tool call is not running'
}

/** Whether a client may confirm a call without asking its user: the tool is its own, and does not want a person to decide. */
function mayConfirmOwn(
  { contributor, toolName }: ToolCallState,
  { clientId }: Dispatcher,
  session: Channel<'session'> | undefined,
): boolean {
  if (contributor?.kind !== 'client' || contributor.clientId !== clientId || !session) return false
  const tool = clientTool(session.head, { contributor, toolName })
  return tool !== undefined && !asks(tool)
}

/** Finds a request without a response in the active turn. */
export function openRequest({ activeTurn }: ChatState, requestId: string): InputRequestPart | undefined {
  for (const part of activeTurn?.responseParts ?? [])
    if (part.kind === 'inputRequest' && part.request.id === requestId && part.response === undefined)
      return part
  return undefined
}
