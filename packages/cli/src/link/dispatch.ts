import type { Outcome } from '@atrium/client/sync/pending-actions'
import { Problem } from '../terminal/exit.ts'

/** What a host did not want, or may not have heard, is a problem of whoever wished it. */
export function accepted(outcome: Outcome): void {
  if (outcome.outcome === 'accepted') return
  const reason = outcome.reason.replace(/\.$/, '')
  if (outcome.outcome === 'refused') throw new Problem(`The host refuses this: ${reason}.`)
  throw new Problem(`Nobody knows whether this was done: ${reason}. Look with: atrium logs`)
}
