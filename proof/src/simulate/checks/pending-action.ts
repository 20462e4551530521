import type { Action, Uri } from '@atrium/protocol/channel'
import { isChoice } from '../speech/older-action.ts'

/** A dispatched action whose outcome the client does not know. */
export interface PendingAction {
  readonly clientSeq: number
  readonly channel: Uri
  readonly action: Action
}

/**
 * The number of an answer. A choice may be echoed when it is applied, and then be sent again by a client that came back: the
 * refusal names the number of the echo (V9).
 */
export function outcomeOf({ action }: PendingAction, seq: number, rejectionReason = ''): number {
  const accepted = isChoice(action) ? /^already accepted as (\d+)$/.exec(rejectionReason)?.[1] : undefined
  return accepted === undefined ? seq : Number(accepted)
}
