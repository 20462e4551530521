import type { Action } from '@atrium/protocol/channel'
import type { ActiveTurn } from '@atrium/protocol/chat/state'

/** Fields of chat actions that concern a turn or a queued message. */
export interface TurnAction extends Action {
  readonly turnId?: string
  readonly queuedMessageId?: string
  readonly kind?: string
  readonly id?: string
}

export const turnStarts = new Set(['chat/turnStarted', 'chat/turnResume'])

/** Answers after which an agent may resume a turn of an earlier host run. */
export const answers = new Set([
  'chat/inputCompleted',
  'chat/toolCallConfirmed',
  'chat/toolCallResultConfirmed',
  'chat/toolCallComplete',
])

export function wasInterrupted(action: Action): boolean {
  const { part } = action as { readonly part?: { readonly error?: { readonly errorType: string } } }
  return action.type === 'chat/error' && part?.error?.errorType === 'interrupted'
}

/** Returns the id of an unanswered question of a turn. */
export function questionOf({ responseParts }: ActiveTurn): string | undefined {
  const asked = responseParts.find((part) => part.kind === 'inputRequest' && part.response === undefined)
  return asked?.kind === 'inputRequest' ? asked.request.id : undefined
}
