import type { Outcome } from '@atrium/client/sync/pending-actions'
import { LinkClosed } from '@atrium/protocol/rpc/peer'

/** An outcome that is no success. `lost`: nobody knows whether the host has done what it was asked for. */
export type Failure = Exclude<Outcome, { readonly outcome: 'accepted' }>

/** Describes for a person why an action of the page was not accepted; undefined if it was. */
export function failureOf(outcome: Outcome): string | undefined {
  if (outcome.outcome === 'accepted') return undefined
  const what = outcome.outcome === 'refused' ? 'The host refused' : 'The host has not confirmed this'
  return `${what}: ${outcome.reason}`
}

/** The failure of a request. If the link closed before the response came, the host may still have done it. */
export function failedRequest(error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error)
  return { outcome: error instanceof LinkClosed ? 'lost' : 'refused', reason }
}

/** A failure in words. `undone`: the sentence for a refusal. `done`: the clause for an outcome that nobody knows. */
export function failureWords({ outcome, reason }: Failure, undone: string, done: string): string {
  return `${outcome === 'refused' ? undone : `It is not known whether ${done}`}: ${reason}`
}
