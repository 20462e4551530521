import type { Uri } from '@atrium/protocol/channel'

/**
 * A wrong message of the host, a lost link, or an exception of the app. Problems are reported and never thrown. A damaged
 * channel is repaired by subscribing again.
 */
export interface ClientProblem {
  readonly kind:
    /** An action refers to something that does not exist: an earlier action was lost. */
    | 'gap'
    /** A sequence number that is not higher than one seen before. */
    | 'old'
    /** A message of the wrong shape, or an action that cannot be reduced. */
    | 'malformed'
    /** A response without a request, an unreadable request, or a frame that is not JSON-RPC. */
    | 'stray'
    /** The host has lost actions that it had confirmed. The states are those that the host still has. */
    | 'rollback'
    /** The disk of the host is full. Pending actions wait until it has space again. */
    | 'full'
    /** A pending action whose outcome will never be known. */
    | 'lost'
    /** A listener of the app, or its answer to a host request, threw an error. */
    | 'app'
    /** The link could not be opened, or was lost. */
    | 'link'
  readonly detail: string
  readonly channel?: Uri
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
