import type { Action, Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { chatUri } from '@atrium/protocol/uri'
import { actionOf } from '../src/kit/action.ts'
import type { Fault } from './faults.ts'
import { newChat } from './wrong-creation.ts'
import type { WrongLog } from './wrong-log.ts'

/** The prompts that make the agent of this host ask for input or start a worker. */
export const prompts = {
  toolPrompt: 'Use a tool.',
  formPrompt: 'Ask me something.',
  workerPrompt: 'Let a worker do it.',
}

const tickMs = 2

/** Runs the script for this text if the text is one of the prompts. Returns whether it is. */
export function requestInput(host: WrongLog, chat: Uri, text: string): boolean {
  const steps = scripts.get(text)?.(host, chat)
  if (steps) appendSoon(host, chat, steps)
  return steps !== undefined
}

type Step = Action & { readonly [key: string]: unknown }

const scripts: ReadonlyMap<string, (host: WrongLog, chat: Uri) => readonly Step[]> = new Map([
  [prompts.toolPrompt, callSteps],
  [prompts.formPrompt, () => [{ type: 'chat/inputRequested', request: form }]],
  [prompts.workerPrompt, workerSteps],
])

function callSteps(host: WrongLog): readonly Step[] {
  const call = { toolCallId: 'call', toolName: 'look', displayName: 'Look' }
  const options = [
    { id: 'yes', label: 'Yes', kind: 'approve' },
    { id: 'no', label: 'No', kind: 'deny' },
  ]
  return [
    { type: 'chat/toolCallStart', ...call },
    {
      type: 'chat/toolCallReady',
      toolCallId: call.toolCallId,
      invocationMessage: 'Look around',
      toolInput: 'around',
      ...(!host.has('inputNotEditable') && { editable: true }),
      ...(!host.has('noOptions') && { options }),
    },
  ]
}

/** The steps of a turn that starts a worker. Creates the chat of the worker; the result of the tool call names that chat. */
function workerSteps(host: WrongLog, chat: Uri): readonly Step[] {
  const end: Step = { type: 'chat/turnComplete', duration: 20 }
  if (host.has('noWorker')) return [end]
  const call = { toolCallId: 'work', toolName: 'work', displayName: 'Work' }
  const { toolCallId } = call
  const session = host.owners.get(chat) ?? ''
  const resource = chatUri(`${session}/worker`)
  const origin = {
    kind: 'tool',
    chat,
    toolCallId: host.has('workerOfOtherCall') ? 'other' : toolCallId,
  } as const
  const summary = newChat(host, session, resource, { turns: [], origin })
  host.append(session, actionOf('session/chatAdded', { summary }))
  const content = host.has('workerBlockMissing') ? [] : [{ type: 'subagent', resource, title: 'Worker' }]
  const result = { success: true, pastTenseMessage: 'Worked', content }
  return [
    { type: 'chat/toolCallStart', ...call },
    { type: 'chat/toolCallReady', toolCallId, invocationMessage: 'Work', confirmed: 'not-needed' },
    { type: 'chat/toolCallComplete', toolCallId, result },
    end,
  ]
}

const form = {
  id: 'form',
  questions: [
    { kind: 'text', id: 'name', message: 'Which name?', required: true },
    { kind: 'boolean', id: 'sure', message: 'Sure?' },
  ],
}

/** Continues the turn after a decision of a client. */
export function continueTurn(host: WrongLog, chat: Uri, action: Action): void {
  const { toolCallId, approved } = action as Step
  const end: Step = { type: 'chat/turnComplete', duration: 20 }
  const withoutApproval = host.has('noResultApproval')
  const result = { success: true, pastTenseMessage: 'Looked around' }
  const done: Step = {
    type: 'chat/toolCallComplete',
    toolCallId,
    result,
    ...(!withoutApproval && { requiresResultConfirmation: true }),
  }
  if (action.type === 'chat/toolCallConfirmed' && approved === true)
    appendSoon(host, chat, withoutApproval ? [done, end] : [done])
  else if (decisions.includes(action.type)) appendSoon(host, chat, [end])
}

const decisions = ['chat/toolCallConfirmed', 'chat/toolCallResultConfirmed', 'chat/inputCompleted']

/** Appends the steps after one tick, as long as the same turn is active. */
function appendSoon(host: WrongLog, chat: Uri, steps: readonly Step[]): void {
  const turnId = turnOf(host, chat)?.id
  setTimeout(() => {
    for (const step of steps)
      if (turnId !== undefined && turnOf(host, chat)?.id === turnId)
        host.append(chat, actionOf(step.type, { ...step, turnId }))
  }, tickMs)
}

function turnOf(host: WrongLog, chat: Uri): ActiveTurn | undefined {
  return (host.channels.get(chat)?.state as ChatState | undefined)?.activeTurn
}

/** Updates `inputNeeded` of the session, so that it lists what the chat waits for. */
export function updateInputNeeded(host: WrongLog, session: Uri, chat: Uri): void {
  const { inputNeeded = [] } = (host.channels.get(session)?.state ?? {}) as Partial<SessionState>
  const turn = turnOf(host, chat)
  const open = (turn?.responseParts ?? []).flatMap((part) => entriesFor(host, chat, turn?.id ?? '', part))
  const listed = inputNeeded.filter((entry) => entry.chat === chat)
  for (const entry of listed)
    if (!open.some(({ id }) => id === entry.id) && !host.has(faultThatKeeps(entry)))
      host.append(session, actionOf('session/inputNeededRemoved', { id: entry.id }))
  for (const request of open)
    if (!listed.some(({ id }) => id === request.id))
      host.append(session, actionOf('session/inputNeededSet', { request }))
}

function faultThatKeeps(entry: SessionInputRequest): Fault {
  if (entry.kind !== 'toolConfirmation') return 'questionsStayListed'
  return entry.toolCall.status === 'pending-confirmation' ? 'callsStayListed' : 'resultsStayListed'
}

function entriesFor(
  host: WrongLog,
  chat: Uri,
  turnId: string,
  part: ResponsePart,
): readonly SessionInputRequest[] {
  if (part.kind === 'inputRequest') {
    if (part.response !== undefined || host.has('questionsNotListed')) return []
    return [{ kind: 'chatInput', id: `${chat} ${part.request.id}`, chat, request: part.request }]
  }
  if (part.kind !== 'toolCall') return []
  const { toolCall } = part
  const id = `${chat} ${toolCall.toolCallId} ${toolCall.status}`
  const asked = toolCall.status === 'pending-confirmation' && !host.has('callsNotListed')
  const done = toolCall.status === 'pending-result-confirmation' && !host.has('resultsNotListed')
  return asked || done ? [{ kind: 'toolConfirmation', id, chat, turnId, toolCall }] : []
}

/** Starts a turn with the first queued message if no turn is active. */
export function startQueuedTurn(host: WrongLog, chat: Uri, { type }: Action): void {
  const { activeTurn, queuedMessages = [] } = (host.channels.get(chat)?.state ?? {}) as Partial<ChatState>
  const [first] = queuedMessages
  if (!first || activeTurn || !queueTriggers.includes(type) || host.has('queueNotStarted')) return
  const { id, message } = first
  const sent = host.has('queuedTextLost') ? { ...message, text: 'something else' } : message
  const startedAt = new Date().toISOString()
  const fields = { turnId: `from ${id}`, startedAt, message: sent, queuedMessageId: id }
  host.append(chat, actionOf('chat/pendingMessageRemoved', { kind: 'queued', id }))
  host.append(chat, actionOf('chat/turnStarted', { ...fields }))
}

const queueTriggers = ['chat/turnComplete', 'chat/turnCancelled', 'chat/pendingMessageSet']
