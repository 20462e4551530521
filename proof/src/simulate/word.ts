import type { Action } from '@atrium/protocol/channel'
import type { ActiveTurn } from '@atrium/protocol/chat/state'

/** What actions of a chat have in common that say something of a turn, or of a message that waits for one. */
export interface Word extends Action {
  readonly turnId?: string
  readonly queuedMessageId?: string
  readonly kind?: string
  readonly id?: string
}

export const begins = new Set(['chat/turnStarted', 'chat/turnResume'])

/** What lets an agent take up a turn of a life before. */
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

/** A question of a turn that nobody has answered. */
export function questionOf({ responseParts }: ActiveTurn): string | undefined {
  const asked = responseParts.find((part) => part.kind === 'inputRequest' && part.response === undefined)
  return asked?.kind === 'inputRequest' ? asked.request.id : undefined
}
