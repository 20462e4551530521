import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Client } from './client.ts'

// Calls about the past of a channel. AHP does not have them. Only a host whose `initialize` result lists the commands
// answers them; any other host answers with the error for unknown methods (-32601). Numbers are sequence numbers
// (`serverSeq`), unless something else is said. Positions count the shown envelopes, from 1.

/** The hidden actions between two sequence numbers, both excluded. A truncation has taken their turns away. */
export interface PastGap {
  readonly after: number
  /** The sequence number of the truncation. The truncation itself is shown. */
  readonly before: number
}

/** The part of a channel's past that the host shows. */
export interface PastRange {
  readonly channel: Uri
  /** The sequence number with which the past begins. */
  readonly begins: number
  /** The sequence number of the last envelope. It equals `begins` if there is no envelope. */
  readonly ends: number
  /** How many envelopes there are. */
  readonly total: number
  /** The host has forgotten all actions up to this number. */
  readonly forgottenTo?: number
  /** A truncation has taken away everything before this number. */
  readonly truncatedTo?: number
}

/** The state of a channel after the last action up to a sequence number. */
export interface PastState<S = unknown> extends PastRange {
  /**
   * Absent if the host does not show the state; `hidden` says why. `fromSeq` is the sequence number of the last
   * action in the state.
   */
  readonly snapshot?: { readonly resource: Uri; readonly state: S; readonly fromSeq: number }
  /** The position of the last action in the state. The first envelope has the position 1. */
  readonly position?: number
  /** The id of a turn. The finished turns before it are left out. To get them, pass the id as `before`. */
  readonly older?: string
  readonly hidden?: 'forgotten' | 'truncated'
  readonly gap?: PastGap
}

/** A page of envelopes. */
export interface PastPage extends PastRange {
  readonly envelopes: readonly Envelope[]
  /** The position of the first of these envelopes. */
  readonly position: number
  readonly more: boolean
  /** The gaps before envelopes of this page. The state after a gap comes from `stateAt`, not from the envelopes. */
  readonly gaps: readonly PastGap[]
}

export interface StateAtQuery {
  readonly channel: Uri
  readonly seq: number
  /** The maximum number of finished turns of a chat. */
  readonly turns?: number
  /** The id of a turn. Only the finished turns before it are wanted. */
  readonly before?: string
}

export interface EnvelopesQuery {
  readonly channel: Uri
  /** Only envelopes above this sequence number are wanted. Must not be given together with `position`. */
  readonly after?: number
  /** Only envelopes from this position on are wanted. */
  readonly position?: number
  readonly limit?: number
}

/** Called while the host reads a long log: how far it has come, and how far it must go, as sequence numbers. */
export type PastProgress = (reached: number, upTo: number) => void

/** Asks for the state of a session, a chat or the root channel after the last action up to a sequence number. */
export async function stateAt<S = unknown>(
  client: Client,
  query: StateAtQuery,
  progress?: PastProgress,
): Promise<PastState<S>> {
  // The answer is not checked: its shape is that of the host which offers the command.
  return (await finished(client, 'x-atrium/stateAt', query, progress)) as PastState<S>
}

/** Asks for a page of the envelopes of a session, a chat or the root channel. */
export async function pastEnvelopes(
  client: Client,
  query: EnvelopesQuery,
  progress?: PastProgress,
): Promise<PastPage> {
  return (await finished(client, 'x-atrium/envelopes', query, progress)) as PastPage
}

interface Unfinished {
  readonly unfinished?: { readonly reached: number; readonly upTo: number }
}

/** The number of calls after which a host that reads a long log counts as stuck. */
const mostCalls = 10_000

/** Repeats a call until the host has read the log. Each call reads a bounded part of it. */
async function finished(
  client: Client,
  method: string,
  params: object,
  progress: PastProgress | undefined,
): Promise<unknown> {
  for (let calls = 0; calls < mostCalls; calls++) {
    const peer = await client.live()
    const answer = (await peer.request(method, params)) as Unfinished
    if (!answer.unfinished) return answer
    progress?.(answer.unfinished.reached, answer.unfinished.upTo)
  }
  throw new Error(`${method}: the host did not finish within ${mostCalls} calls`)
}
