import type { Outcome } from '@atrium/client/sync/pending-actions'

/** Describes for a person why an action of the page was not accepted; undefined if it was. */
export function failureOf(outcome: Outcome): string | undefined {
  if (outcome.outcome === 'accepted') return undefined
  const what = outcome.outcome === 'refused' ? 'The host refused' : 'The host has not confirmed this'
  return `${what}: ${outcome.reason}`
}
