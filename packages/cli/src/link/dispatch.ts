import type { Outcome } from '@atrium/client/sync/pending-actions'
import { CommandError } from '../terminal/exit.ts'

/** Throws unless the host accepted the action. An action without a known outcome is an error, too. */
export function assertAccepted(outcome: Outcome): void {
  if (outcome.outcome === 'accepted') return
  const reason = outcome.reason.replace(/\.$/, '')
  if (outcome.outcome === 'refused') throw new CommandError(`The host refuses this: ${reason}.`)
  throw new CommandError(
    `It is not known whether the host did this: ${reason}. Check before you do it again.`,
  )
}
