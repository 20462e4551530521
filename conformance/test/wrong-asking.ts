import type { Action, Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { chatUri } from '@atrium/protocol/uri'
import type { Fault } from './faults.ts'
import { bornChat } from './wrong-birth.ts'
import type { WrongLog } from './wrong-log.ts'

/** What makes the agent of this host ask. */
export const prompts = {
  toolPrompt: 'Use a tool.',
  formPrompt: 'Ask me something.',
  workerPrompt: 'Let a worker do it.',
}

const tickMs = 2

/** Whether a message makes the agent ask, which it then does instead of answering. */
export function asks(host: WrongLog, chat: Uri, text: string): boolean {
  const steps = scripts.get(text)?.(host, chat)
  if (steps) later(host, chat, steps)
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
      ...(!host.has('uneditable') && { editable: true }),
      ...(!host.has('optionless') && { options }),
    },
  ]
}

/** A chat of the worker's own, which the call shows. */
function workerSteps(host: WrongLog, chat: Uri): readonly Step[] {
  const end: Step = { type: 'chat/turnComplete', duration: 20 }
  if (host.has('workerless')) return [end]
  const call = { toolCallId: 'work', toolName: 'work', displayName: 'Work' }
  const { toolCallId } = call
  const session = host.owners.get(chat) ?? ''
  const resource = chatUri(`${session}/worker`)
  const origin = { kind: 'tool', chat, toolCallId: host.has('workerForeign') ? 'other' : toolCallId } as const
  const summary = bornChat(host, session, resource, { turns: [], origin })
  host.append(session, { type: 'session/chatAdded', summary } as Action)
  const content = host.has('workerUnshown') ? [] : [{ type: 'subagent', resource, title: 'Worker' }]
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

/** Goes on with what was decided. */
export function goOn(host: WrongLog, chat: Uri, action: Action): void {
  const { toolCallId, approved } = action as Step
  const end: Step = { type: 'chat/turnComplete', duration: 20 }
  const seen = host.has('resultsUnseen')
  const result = { success: true, pastTenseMessage: 'Looked around' }
  const done: Step = {
    type: 'chat/toolCallComplete',
    toolCallId,
    result,
    ...(!seen && { requiresResultConfirmation: true }),
  }
  if (action.type === 'chat/toolCallConfirmed' && approved === true)
    later(host, chat, seen ? [done, end] : [done])
  else if (decisions.includes(action.type)) later(host, chat, [end])
}

const decisions = ['chat/toolCallConfirmed', 'chat/toolCallResultConfirmed', 'chat/inputCompleted']

/** In a moment, if the turn still runs by then. */
function later(host: WrongLog, chat: Uri, steps: readonly Step[]): void {
  const turnId = turnOf(host, chat)?.id
  setTimeout(() => {
    for (const step of steps)
      if (turnId !== undefined && turnOf(host, chat)?.id === turnId)
        host.append(chat, { ...step, turnId } as Action)
  }, tickMs)
}

function turnOf(host: WrongLog, chat: Uri): ActiveTurn | undefined {
  return (host.channels.get(chat)?.state as ChatState | undefined)?.activeTurn
}

/** Tells a session what its chat waits for. */
export function showNeeded(host: WrongLog, session: Uri, chat: Uri): void {
  const { inputNeeded = [] } = (host.channels.get(session)?.state ?? {}) as Partial<SessionState>
  const turn = turnOf(host, chat)
  const open = (turn?.responseParts ?? []).flatMap((part) => needed(host, chat, turn?.id ?? '', part))
  const shown = inputNeeded.filter((entry) => entry.chat === chat)
  for (const entry of shown)
    if (!open.some(({ id }) => id === entry.id) && !host.has(keptBy(entry)))
      host.append(session, { type: 'session/inputNeededRemoved', id: entry.id } as Action)
  for (const request of open)
    if (!shown.some(({ id }) => id === request.id))
      host.append(session, { type: 'session/inputNeededSet', request } as Action)
}

function keptBy(entry: SessionInputRequest): Fault {
  if (entry.kind !== 'toolConfirmation') return 'formsKept'
  return entry.toolCall.status === 'pending-confirmation' ? 'callsKept' : 'resultsKept'
}

function needed(
  host: WrongLog,
  chat: Uri,
  turnId: string,
  part: ResponsePart,
): readonly SessionInputRequest[] {
  if (part.kind === 'inputRequest') {
    if (part.response !== undefined || host.has('formsUnshown')) return []
    return [{ kind: 'chatInput', id: `${chat} ${part.request.id}`, chat, request: part.request }]
  }
  if (part.kind !== 'toolCall') return []
  const { toolCall } = part
  const id = `${chat} ${toolCall.toolCallId} ${toolCall.status}`
  const asked = toolCall.status === 'pending-confirmation' && !host.has('callsUnshown')
  const done = toolCall.status === 'pending-result-confirmation' && !host.has('resultsUnshown')
  return asked || done ? [{ kind: 'toolConfirmation', id, chat, turnId, toolCall }] : []
}

/** A chat at rest goes on with what waits in it. */
export function beginNext(host: WrongLog, chat: Uri, { type }: Action): void {
  const { activeTurn, queuedMessages = [] } = (host.channels.get(chat)?.state ?? {}) as Partial<ChatState>
  const [first] = queuedMessages
  if (!first || activeTurn || !wakes.includes(type) || host.has('queueResting')) return
  const { id, message } = first
  const said = host.has('queuedWordsLost') ? { ...message, text: 'something else' } : message
  const startedAt = new Date().toISOString()
  const begun = { turnId: `from ${id}`, startedAt, message: said, queuedMessageId: id }
  host.append(chat, { type: 'chat/pendingMessageRemoved', kind: 'queued', id } as Action)
  host.append(chat, { type: 'chat/turnStarted', ...begun } as Action)
}

const wakes = ['chat/turnComplete', 'chat/turnCancelled', 'chat/pendingMessageSet']
