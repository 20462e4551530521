import type { Action, Uri } from '@atrium/protocol/channel'
import type { Meanings } from '../../judge/link-rules.ts'
import type { Disk } from '../disk.ts'
import type { Invariants } from './invariants.ts'
import type { ReferenceModel } from './reference-model.ts'

/** State of a run that the checks read, and the function that reports a violation. */
export interface RunContext {
  readonly model: ReferenceModel
  readonly disk: Disk
  readonly invariants: Invariants
  /** The envelope that each sequence number has stood for since the start of the run. */
  readonly meanings: Meanings
  /** Sessions whose creation was requested and not answered. The function says whether the answer can still arrive. */
  readonly unansweredCreations: Map<Uri, () => boolean>
  readonly fail: (invariant: string, problem: string) => void
  /** The states that clients had. Absent if nobody asks for them. */
  readonly past?: { add(channel: Uri, seq: number, state: unknown): void } | undefined
  /** A client has learned that one of its actions was accepted. */
  accepted?(channel: Uri, seq: number, action: Action): void
  /** Records one line of the trace. */
  trace(line: () => string): void
}

/** A request that a client has sent. */
export interface SentRequest {
  readonly method: string
  readonly params: {
    readonly channel?: Uri
    readonly lastSeenServerSeq?: number
    readonly subscriptions?: readonly Uri[]
    readonly view?: { readonly turns: number }
    readonly chat?: Uri
    readonly destination?: object
    /** The channel that was unsubscribed right before this request. */
    readonly left?: Uri
  }
}
