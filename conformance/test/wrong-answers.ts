import type { Action } from '@atrium/protocol/channel'
import type { ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { WrongLog } from './wrong-log.ts'

export type ClientAction = Action & { readonly [key: string]: unknown }

/** The reason to reject a client's answer to a call or a question; undefined if the answer is accepted. */
export function answerRejection(
  host: WrongLog,
  state: ChatState,
  clientAction: ClientAction,
): string | undefined {
  const { type, turnId, toolCallId, requestId } = clientAction
  const { activeTurn } = state
  const call = callsOf(state).find((each) => each.toolCallId === toolCallId)
  const inActiveTurn = activeTurn?.id === turnId || host.has('callOfOtherTurnConfirmed')
  switch (type) {
    case 'chat/toolCallConfirmed':
      if (call && host.has('secondAnswerAccepted')) return undefined
      return call?.status === 'pending-confirmation' && inActiveTurn ? undefined : 'no such call'
    case 'chat/toolCallResultConfirmed':
      if (host.has('anyResultConfirmed')) return undefined
      return call?.status === 'pending-result-confirmation' && inActiveTurn ? undefined : 'no such result'
    default:
      if (host.has('unknownRequestAnswered') || host.has('lastResponseCounts')) return undefined
      return isOpen(activeTurn?.responseParts ?? [], requestId) ? undefined : 'no such question'
  }
}

/** The action to append for an accepted answer. Some faults change the action. */
export function acceptedAnswer(host: WrongLog, state: ChatState, clientAction: ClientAction): ClientAction {
  const without = (key: string): ClientAction => ({
    type: clientAction.type,
    ...Object.fromEntries(Object.entries(clientAction).filter(([each]) => each !== key)),
  })
  if (host.has('editedInputLost')) return without('editedToolInput')
  if (host.has('confirmedBySetting') && clientAction['approved'] === true)
    return { ...clientAction, confirmed: 'setting' }
  if (host.has('optionLost')) return without('selectedOptionId')
  if (host.has('answersLost')) return without('answers')
  if (host.has('denialReversed') && clientAction['approved'] === false)
    return { ...clientAction, approved: true, confirmed: 'user-action' }
  if (host.has('anyResultConfirmed') && clientAction.type === 'chat/toolCallResultConfirmed')
    return { ...clientAction, type: 'chat/toolCallConfirmed', confirmed: 'user-action' }
  if (host.has('declineBecomesCancel') && clientAction['response'] === 'decline')
    return { ...clientAction, response: 'cancel' }
  if (host.has('steeringQueued') && clientAction['kind'] === 'steering')
    return { ...clientAction, kind: 'queued' }
  const open = state.activeTurn?.responseParts.find((part) => part.kind === 'inputRequest')
  if (host.has('unknownRequestAnswered') && 'requestId' in clientAction && open?.kind === 'inputRequest')
    return { ...clientAction, requestId: open.request.id }
  return clientAction
}

/** Tells whether a fault makes the host deliver the answer without applying it to its own state. */
export function isAnswerLost(host: WrongLog, state: ChatState, clientAction: ClientAction): boolean {
  switch (clientAction.type) {
    case 'chat/toolCallConfirmed':
      return host.has('approvalNotApplied')
    case 'chat/inputAnswerChanged':
      return host.has('answerDraftNotRemoved') && clientAction['answer'] === undefined
    case 'chat/queuedMessagesReordered':
      return host.has('reorderNotApplied')
    case 'chat/pendingMessageRemoved':
      return host.has('removalNotApplied')
    case 'chat/pendingMessageSet':
      return host.has('steeringNotStored') && clientAction['kind'] === 'steering' && !state.activeTurn
    default:
      return false
  }
}

/** The state after an action, changed by those faults that affect the state. */
export function withFault(
  host: WrongLog,
  before: ChatState,
  after: ChatState,
  clientAction: ClientAction,
): ChatState {
  const { queuedMessages = [] } = after
  if (host.has('callsLeftPending') && clientAction.type === 'chat/turnCancelled' && before.activeTurn)
    return withLast(after, before.activeTurn.responseParts)
  if (host.has('lastResponseCounts') && clientAction.type === 'chat/inputCompleted')
    return responded(after, clientAction['response'] as 'cancel')
  if (clientAction.type !== 'chat/pendingMessageSet' || clientAction['kind'] !== 'queued') return after
  const isSetAgain = (before.queuedMessages ?? []).some(({ id }) => id === clientAction['id'])
  const mine = queuedMessages.filter(({ id }) => id === clientAction['id'])
  const others = queuedMessages.filter(({ id }) => id !== clientAction['id'])
  if (host.has('queueReversed') && !isSetAgain) return { ...after, queuedMessages: [...mine, ...others] }
  if (host.has('resentMessageMovedLast') && isSetAgain)
    return { ...after, queuedMessages: [...others, ...mine] }
  return after
}

function withLast(state: ChatState, responseParts: readonly ResponsePart[]): ChatState {
  const last = state.turns.at(-1)
  return last ? { ...state, turns: [...state.turns.slice(0, -1), { ...last, responseParts }] } : state
}

/** Sets the response of every input request of the chat, even if it has been answered before. */
function responded(state: ChatState, response: 'cancel'): ChatState {
  const all = (parts: readonly ResponsePart[]) =>
    parts.map((part) => (part.kind === 'inputRequest' ? { ...part, response } : part))
  const turns = state.turns.map((turn) => ({ ...turn, responseParts: all(turn.responseParts) }))
  const { activeTurn } = state
  const running = activeTurn && {
    activeTurn: { ...activeTurn, responseParts: all(activeTurn.responseParts) },
  }
  return { ...state, turns, ...running }
}

function callsOf({ activeTurn, turns }: ChatState): readonly ToolCallState[] {
  const parts = [...turns.flatMap(({ responseParts }) => responseParts), ...(activeTurn?.responseParts ?? [])]
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

function isOpen(parts: readonly ResponsePart[], requestId: unknown): boolean {
  return parts.some(
    (part) => part.kind === 'inputRequest' && part.response === undefined && part.request.id === requestId,
  )
}
