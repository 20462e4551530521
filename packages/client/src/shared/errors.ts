import type { Uri } from '@atrium/protocol/channel'

/**
 * Something a host should not have said, or a link that broke. Nothing of it is thrown at the app: it is told, and what
 * can be mended is mended by asking for the channel again.
 */
export interface ClientProblem {
  readonly kind:
    /** An action takes something for granted that is not there: one before it was lost. */
    | 'gap'
    /** A number at or below one that was seen. */
    | 'old'
    /** It has not the shape it must have, or cannot be reduced. */
    | 'malformed'
    /** An answer to nothing, a request that cannot be read, a message that is none. */
    | 'stray'
    /** Something wished of which nobody will hear again. */
    | 'lost'
    /** A listener or an offer of the app threw. */
    | 'app'
    /** No link, or it ended. */
    | 'link'
  readonly detail: string
  readonly channel?: Uri
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
