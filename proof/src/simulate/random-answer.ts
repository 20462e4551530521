import type { ActiveTurn, ChatState } from '@atrium/protocol/chat/state'
import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import type { Chance } from '../chance.ts'
import { callsOf, clientRunning } from './tool-calls.ts'

/**
 * Returns actions by which users, and clients that run tools, answer a chat: in time, late, for another call, or with
 * a choice that was not offered.
 */
export function answersTo(state: ChatState, name: string, chance: Chance): readonly object[] {
  const { activeTurn, turns } = state
  const turn = activeTurn && !chance.oneIn(16) ? activeTurn : turns.at(-1)
  if (!turn) return []
  // The answers are mostly to calls that wait for somebody.
  const open = callsOf(turn).filter(
    (call) => call.status.startsWith('pending') || clientRunning(call) !== undefined,
  )
  const chosen = open.length > 0 && !chance.oneIn(5) ? open : callsOf(turn)
  const calls = chosen.map((call) => answerTo(call, name, chance))
  const inTurn = calls.map((answer) => ({ turnId: turn.id, ...answer }))
  return [...inTurn, ...(activeTurn ? replies(activeTurn, name, chance) : [])]
}

function answerTo(call: ToolCallState, name: string, chance: Chance): object {
  // Sometimes the id of a call that does not exist.
  const toolCallId = chance.oneIn(20) ? `call-${name}` : call.toolCallId
  const executor = clientRunning(call)
  if (executor !== undefined && !chance.oneIn(8)) return clientToolAction(toolCallId, name, chance)
  if (call.status === 'pending-result-confirmation')
    return { type: 'chat/toolCallResultConfirmed', toolCallId, approved: chance.oneIn(2) }
  return { type: 'chat/toolCallConfirmed', toolCallId, ...decision(call, name, chance) }
}

function decision(call: ToolCallState, name: string, chance: Chance): object {
  const options: readonly ConfirmationOption[] = ('options' in call && call.options) || []
  const option = chance.oneIn(20) ? { id: 'atrium.other', kind: 'approve' } : chance.pick(options)
  const chosen = option && !chance.oneIn(3) ? { selectedOptionId: option.id } : {}
  // Mostly `approved` agrees with the kind of the chosen option.
  const approved = chance.oneIn(12) ? chance.oneIn(2) : (option?.kind ?? 'approve') === 'approve'
  if (!approved) return { approved, reason: 'denied', ...chosen }
  const edited = chance.oneIn('editable' in call && call.editable ? 2 : 12)
    ? { editedToolInput: `edited-${name}` }
    : {}
  return { approved, confirmed: 'user-action', ...edited, ...chosen }
}

function clientToolAction(toolCallId: string, name: string, chance: Chance): object {
  if (chance.oneIn(3))
    return { type: 'chat/toolCallContentChanged', toolCallId, content: [{ type: 'text', text: name }] }
  const asks = chance.oneIn(4) ? { requiresResultConfirmation: true } : {}
  const result = { success: chance.oneIn(2), pastTenseMessage: name }
  return { type: 'chat/toolCallComplete', toolCallId, result, ...asks }
}

function replies({ responseParts }: ActiveTurn, name: string, chance: Chance): readonly object[] {
  return responseParts.flatMap((part) => {
    if (part.kind !== 'inputRequest') return []
    const { id: requestId, questions = [] } = part.request
    const questionId = questions[0]?.id ?? 'none'
    const value = chance.oneIn(6) ? { kind: 'boolean', value: true } : { kind: 'text', value: name }
    const answer = { state: 'submitted', value }
    const response = chance.pick(['accept', 'accept', 'decline', 'cancel'])
    const answers = questions.length > 0 && chance.oneIn(2) ? { answers: { [questionId]: answer } } : {}
    return [
      { type: 'chat/inputCompleted', requestId, response, ...answers },
      { type: 'chat/inputAnswerChanged', requestId, questionId, answer },
    ]
  })
}
