import type { Action } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { endOf } from '@atrium/protocol/chat/clock'
import type { Message } from '@atrium/protocol/chat/message'
import type { ChatState, InputRequestPart } from '@atrium/protocol/chat/state'
import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import { isWritable, sessionOf } from '../core/lookup.ts'
import { answerProblem, answersProblem, consentProblem } from './answers.ts'
import { whyNotSaved } from '../tools/approval.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { equal } from '../log/equal.ts'
import type { Dispatcher } from '../log/options.ts'
import { lengthOf } from '../log/rows.ts'
import type { Guards } from '../core/rules.ts'

const noTurn = 'there is no such turn in progress'
const noQuestion = 'no such question is open'

export const chatGuards: Guards<'chat'> = {
  'chat/turnStarted': ({ turnId, message, queuedMessageId }, { state, core, channel: chat }) => {
    if (state.activeTurn) return 'a turn is in progress: cancel it, or queue the message'
    if (chat.has(turnId)) return 'this chat had a turn with that id already'
    if (queuedMessageId !== undefined && !waits(state, queuedMessageId))
      return 'no message with that id waits in this chat'
    return foreign(message) ?? closed(core, chat)
  },
  'chat/turnCancelled': ({ turnId, duration }, { state: { activeTurn } }) => {
    if (activeTurn?.id !== turnId) return noTurn
    return endOf(activeTurn.startedAt, duration) === undefined ? 'that is no duration' : undefined
  },
  'chat/turnResume': ({ turnId }, { state: { activeTurn, turns }, core, channel: chat }) => {
    if (activeTurn) return 'a turn is in progress'
    const last = turns.at(-1)
    const part = last?.responseParts.at(-1)
    if (last?.id !== turnId || last.state !== 'error')
      return 'only the last turn, and after an error, can go on'
    if (part?.kind !== 'error' || part.resumable !== true) return 'this turn cannot go on'
    return closed(core, chat)
  },
  'chat/truncated': ({ turnId }, { core, channel: chat }) =>
    turnId === undefined || chat.has(turnId) ? closed(core, chat) : 'this chat has no such turn',

  'chat/toolCallConfirmed': (action, { state, core, channel: chat }) => {
    const call = callOf(state, action)
    if (typeof call === 'string') return call
    if (call.status !== 'pending-confirmation') return 'this tool call waits for no confirmation'
    // With that an agent says that it asks nobody.
    if (action.approved && action.confirmed === 'not-needed')
      return 'a call that asks is not run unless somebody agrees'
    if (!action.approved && action.reason === 'result-denied') return 'this tool call has no result yet'
    const session = sessionOf(core, chat.uri)
    return (
      choiceProblem(call.options, action) ??
      editProblem(call, action) ??
      (session && whyNotSaved(core, session, chat, action))
    )
  },
  'chat/toolCallResultConfirmed': (action, { state }) => {
    const call = callOf(state, action)
    if (typeof call === 'string') return call
    return call.status === 'pending-result-confirmation'
      ? undefined
      : 'the result of this tool call waits for no confirmation'
  },
  'chat/toolCallComplete': (action, { state, by }) => {
    const call = callOf(state, action)
    if (typeof call === 'string') return call
    if (call.status === 'auth-required')
      return action.result.success ? 'this tool call waits for a sign-in' : undefined
    return ofClient(call, by)
  },
  'chat/toolCallContentChanged': (action, { state, by }) => {
    const call = callOf(state, action)
    return typeof call === 'string' ? call : ofClient(call, by)
  },

  'chat/inputAnswerChanged': ({ requestId, questionId, answer }, { state }) => {
    const part = questionOf(state, requestId)
    return part ? answerProblem(part.request, questionId, answer) : noQuestion
  },
  'chat/inputCompleted': ({ requestId, response, answers }, { state }) => {
    const part = questionOf(state, requestId)
    if (!part) return noQuestion
    const problem = answersProblem(part.request, answers)
    return problem ?? (response === 'accept' ? consentProblem(part.request, answers) : undefined)
  },

  'chat/pendingMessageSet': ({ kind, id, message }, { state, core, channel: chat }) => {
    const { steeringMessage, queuedMessages = [] } = state
    const steers = kind === 'steering'
    const others = queuedMessages.filter((waiting) => steers || waiting.id !== id)
    if (steeringMessage && !steers) others.push(steeringMessage)
    // A turn takes all of its name out of both places.
    if (others.some((waiting) => waiting.id === id && !equal(waiting.message, message)))
      return 'another message waits here under that id'
    // They stand in every snapshot: too long for that, they would lock everyone out.
    const length = others.reduce((sum, waiting) => sum + lengthOf(waiting.message), lengthOf(message))
    if (length > core.limits.pendingLength)
      return `at most ${core.limits.pendingLength} characters of messages wait in a chat`
    return foreign(message) ?? closed(core, chat)
  },
  'chat/pendingMessageRemoved': ({ kind, id }, { state }) => {
    const there =
      kind === 'steering'
        ? state.steeringMessage?.id === id
        : state.queuedMessages?.some((message) => message.id === id)
    return there ? undefined : 'no message with that id waits there'
  },
  'chat/queuedMessagesReordered': (_, { state }) =>
    state.queuedMessages ? undefined : 'no messages wait in this chat',

  'chat/draftChanged': ({ draft }, { core, channel: chat }) =>
    (draft && foreign(draft)) ?? closed(core, chat),
  'chat/workingDirectorySet': ({ directory }, { core, channel: chat }) => {
    const session = sessionOf(core, chat.uri)?.head
    return session?.workingDirectories?.includes(directory)
      ? undefined
      : 'this is no directory of the session'
  },
  'chat/workingDirectoryRemoved': ({ directory }, { state: { workingDirectories } }) =>
    workingDirectories?.includes(directory) ? undefined : 'this is no directory of the chat',
}

function foreign({ origin }: Message): string | undefined {
  return origin.kind === 'user' ? undefined : 'a client can only send messages of its user'
}

/** Why nothing can be written in a chat, if nothing can. */
function closed(core: Core, chat: Channel<'chat'>): string | undefined {
  const session = sessionOf(core, chat.uri)
  if (!session) return undefined
  if (session.head.lifecycle === 'failed') return 'this session could not be created'
  return isWritable(session, chat.uri) ? undefined : 'this chat can only be read'
}

function waits({ queuedMessages = [], steeringMessage }: ChatState, id: string): boolean {
  return steeringMessage?.id === id || queuedMessages.some((message) => message.id === id)
}

/** The call that an action is about, else why there is none. */
function callOf(
  { activeTurn }: ChatState,
  { turnId, toolCallId }: Action & { readonly turnId: string; readonly toolCallId: string },
): ToolCallState | string {
  if (activeTurn?.id !== turnId) return noTurn
  for (const part of activeTurn.responseParts)
    if (part.kind === 'toolCall' && part.toolCall.toolCallId === toolCallId) return part.toolCall
  return 'this turn has no such tool call'
}

/** The chosen option must be one of those that are offered, and mean the same as the answer. */
function choiceProblem(
  options: readonly ConfirmationOption[] = [],
  { approved, selectedOptionId: chosen }: Confirmation,
): string | undefined {
  if (chosen === undefined) return undefined
  const option = options.find(({ id }) => id === chosen)
  if (!option) return 'this choice was not offered'
  const means = option.kind === 'approve' ? true : option.kind === 'deny' ? false : approved
  return means === approved ? undefined : 'the choice says the opposite of the answer'
}

function editProblem(
  { editable, toolInput }: { readonly editable?: boolean; readonly toolInput?: unknown },
  answer: Confirmation,
): string | undefined {
  if (!answer.approved || answer.editedToolInput === undefined) return undefined
  if (!editable) return 'the input of this tool call cannot be edited'
  if (toolInput === undefined) return 'this tool call has no input that could be edited'
  return typeof toolInput === 'string'
    ? undefined
    : 'the input of this tool call is kept elsewhere, and cannot be edited here'
}

type Confirmation = Extract<ChatAction, { readonly type: 'chat/toolCallConfirmed' }>

function ofClient({ status, contributor }: ToolCallState, by: Dispatcher): string | undefined {
  if (contributor?.kind !== 'client' || contributor.clientId !== by.clientId)
    return 'only the client that lends a tool can say what it does'
  return status === 'running' ? undefined : 'this tool call is not running'
}

function questionOf({ activeTurn }: ChatState, requestId: string): InputRequestPart | undefined {
  for (const part of activeTurn?.responseParts ?? [])
    if (part.kind === 'inputRequest' && part.request.id === requestId && part.response === undefined)
      return part
  return undefined
}
