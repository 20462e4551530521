import type { Action } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { repeatedRequestId } from '@atrium/protocol/chat/repeated-request'
import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import { hasRoom } from '../../channels/state-length.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { answerProblem } from './answers.ts'
import { openRequest } from './guards.ts'

type Answers = Readonly<Record<string, ChatInputAnswer>>
type Completion = Extract<ChatAction, { type: 'chat/inputCompleted' }>

/**
 * Sends an input request again, under another id, after the host has refused the answer of VS Code. VS Code has
 * removed the form of the request from its window, and shows no second form for the same id. Without the repetition,
 * the turn would wait until the window is loaded again.
 */
export function repeatForm(
  core: Core,
  chat: Channel,
  action: Action,
  { clientId, reason }: { readonly clientId: string; readonly reason: string },
): void {
  if (!chat.is('chat') || !isCompletion(action)) return
  const open = openRequest(chat.head, action.requestId)
  if (!open || !core.clients.habits(core.clients.implementationOf(clientId)?.name).dropsAnsweredForms) return
  if (core.readOnlyReason() !== undefined) return
  const { request } = open
  const answers = draftsOf(request, action.answers)
  const repeated = {
    ...request,
    id: repeatedRequestId(request.id),
    message: [`Please answer again: ${reason}.`, request.message ?? ''].join('\n\n').trim(),
    questions: (request.questions ?? []).map((question) => withDefault(question, answers[question.id])),
    answers,
  }
  const asked: ChatAction = { type: 'chat/inputRequested', request: repeated }
  if (!hasRoom(core, chat, asked)) return
  // The new request is appended before the old one is cancelled. Otherwise the agent would take the form for cancelled.
  core.log.append(chat, asked)
  core.log.append(chat, { type: 'chat/inputCompleted', requestId: request.id, response: 'cancel' })
}

/**
 * Collects the answers that the repeated form shows: the earlier ones, and the new ones that their questions allow.
 */
function draftsOf(request: ChatInputRequest, given: Answers = {}): Answers {
  const kept = Object.entries(given).filter(
    ([questionId, answer]) => answerProblem(request, questionId, answer) === undefined,
  )
  const drafts = kept.map(([questionId, answer]): readonly [string, ChatInputAnswer] =>
    answer.state === 'submitted' ? [questionId, { ...answer, state: 'draft' }] : [questionId, answer],
  )
  return { ...request.answers, ...Object.fromEntries(drafts) }
}

/** Makes the earlier answer the default of its question, for clients that show no drafts of answers. */
function withDefault(question: ChatInputQuestion, answer: ChatInputAnswer | undefined): ChatInputQuestion {
  if (answer === undefined || answer.state === 'skipped') return question
  const { kind, value } = answer.value
  if (question.kind === 'text' && kind === 'text') return { ...question, defaultValue: value }
  if (question.kind === 'boolean' && kind === 'boolean') return { ...question, defaultValue: value }
  if ((question.kind === 'number' || question.kind === 'integer') && kind === 'number')
    return { ...question, defaultValue: value }
  return question
}

function isCompletion(action: Action): action is Completion {
  return action.type === 'chat/inputCompleted'
}
