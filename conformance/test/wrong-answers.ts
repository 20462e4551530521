import type { Action } from '@atrium/protocol/channel'
import type { ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { WrongLog } from './wrong-log.ts'

export type Wish = Action & { readonly [key: string]: unknown }

/** Why an answer of a client, or what it does with messages for later, is not taken. */
export function answerRefusal(host: WrongLog, state: ChatState, wish: Wish): string | undefined {
  const { type, turnId, toolCallId, requestId } = wish
  const { activeTurn } = state
  const call = callsOf(state).find((each) => each.toolCallId === toolCallId)
  const live = activeTurn?.id === turnId || host.has('anyTurnConfirmed')
  switch (type) {
    case 'chat/toolCallConfirmed':
      if (call && host.has('secondAnswerTaken')) return undefined
      return call?.status === 'pending-confirmation' && live ? undefined : 'no such call'
    case 'chat/toolCallResultConfirmed':
      if (host.has('anyResult')) return undefined
      return call?.status === 'pending-result-confirmation' && live ? undefined : 'no such result'
    default:
      if (host.has('strayAnswers') || host.has('lastResponseCounts')) return undefined
      return isOpen(activeTurn?.responseParts ?? [], requestId) ? undefined : 'no such question'
  }
}

/** What an accepted answer becomes. */
export function grantedAnswer(host: WrongLog, state: ChatState, wish: Wish): Action {
  const without = (key: string) => Object.fromEntries(Object.entries(wish).filter(([each]) => each !== key))
  if (host.has('editLost')) return without('editedToolInput') as unknown as Action
  if (host.has('confirmedBySetting') && wish['approved'] === true)
    return { ...wish, confirmed: 'setting' } as Action
  if (host.has('optionLost')) return without('selectedOptionId') as unknown as Action
  if (host.has('answersLost')) return without('answers') as unknown as Action
  if (host.has('denialTurned') && wish['approved'] === false)
    return { ...wish, approved: true, confirmed: 'user-action' } as Action
  if (host.has('anyResult') && wish.type === 'chat/toolCallResultConfirmed')
    return { ...wish, type: 'chat/toolCallConfirmed', confirmed: 'user-action' } as Action
  if (host.has('declineTurned') && wish['response'] === 'decline')
    return { ...wish, response: 'cancel' } as Action
  if (host.has('steeringQueued') && wish['kind'] === 'steering') return { ...wish, kind: 'queued' } as Action
  const open = state.activeTurn?.responseParts.find((part) => part.kind === 'inputRequest')
  if (host.has('strayAnswers') && 'requestId' in wish && open?.kind === 'inputRequest')
    return { ...wish, requestId: open.request.id } as Action
  return wish
}

/** Told, and then not done. */
export function lostAnswer(host: WrongLog, state: ChatState, wish: Wish): boolean {
  switch (wish.type) {
    case 'chat/toolCallConfirmed':
      return host.has('approvalLost')
    case 'chat/inputAnswerChanged':
      return host.has('draftStays') && wish['answer'] === undefined
    case 'chat/queuedMessagesReordered':
      return host.has('reorderLost')
    case 'chat/pendingMessageRemoved':
      return host.has('removalLost')
    case 'chat/pendingMessageSet':
      return host.has('steeringForgotten') && wish['kind'] === 'steering' && !state.activeTurn
    default:
      return false
  }
}

/** What the host makes of a state besides what the action says. */
export function misread(host: WrongLog, before: ChatState, after: ChatState, wish: Wish): ChatState {
  const { queuedMessages = [] } = after
  if (host.has('callsLeftOpen') && wish.type === 'chat/turnCancelled' && before.activeTurn)
    return withLast(after, before.activeTurn.responseParts)
  if (host.has('lastResponseCounts') && wish.type === 'chat/inputCompleted')
    return responded(after, wish['response'] as 'cancel')
  if (wish.type !== 'chat/pendingMessageSet' || wish['kind'] !== 'queued') return after
  const again = (before.queuedMessages ?? []).some(({ id }) => id === wish['id'])
  const mine = queuedMessages.filter(({ id }) => id === wish['id'])
  const others = queuedMessages.filter(({ id }) => id !== wish['id'])
  if (host.has('queueBackwards') && !again) return { ...after, queuedMessages: [...mine, ...others] }
  if (host.has('resentLast') && again) return { ...after, queuedMessages: [...others, ...mine] }
  return after
}

function withLast(state: ChatState, responseParts: readonly ResponsePart[]): ChatState {
  const last = state.turns.at(-1)
  return last ? { ...state, turns: [...state.turns.slice(0, -1), { ...last, responseParts }] } : state
}

/** Every question gets this response, also where it has one. */
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
