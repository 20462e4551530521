import type { Action, Uri } from '@atrium/protocol/channel'
import { isChoice } from '../speech/older-action.ts'

/** A dispatched action whose outcome the client does not know. */
export interface PendingAction {
  readonly clientSeq: number
  readonly channel: Uri
  readonly action: Action
}

/**
 * Returns the sequence number of the outcome of an action: the number of the answer, with one exception (V9). After a
 * reconnect, a client may resend a choice of a model or an agent that was already applied and echoed. The refusal
 * then names the number of that echo.
 */
export function outcomeOf({ action }: PendingAction, seq: number, rejectionReason = ''): number {
  const accepted = isChoice(action) ? /^already accepted as (\d+)$/.exec(rejectionReason)?.[1] : undefined
  return accepted === undefined ? seq : Number(accepted)
}
