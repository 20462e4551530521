import { isDeepStrictEqual } from 'node:util'
import type { Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'

interface Replica {
  readonly state: unknown
  readonly seq: number
}

/**
 * The effect of an envelope. `problem` describes a violation of the protocol; `changed` tells whether a subscribed
 * state changed.
 */
interface Applied {
  readonly problem?: string
  readonly changed?: boolean
}

/** The replicas of one client: a reduced state for every subscribed channel. */
export class Replicas {
  readonly #channels = new Map<Uri, Replica>()
  /** The `serverSeq` of the last envelope on the current connection; 0 if there was none. */
  #onLink = 0
  lastSeen = 0

  get channels(): readonly Uri[] {
    return [...this.#channels.keys()]
  }

  state(uri: Uri): unknown {
    return this.#channels.get(uri)?.state
  }

  newLink(): void {
    this.#onLink = 0
  }

  snapshots(snapshots: readonly Snapshot[]): void {
    for (const { resource, state, fromSeq } of snapshots) {
      this.#channels.set(resource, { state, seq: fromSeq })
      this.lastSeen = Math.max(this.lastSeen, fromSeq)
    }
  }

  /** Replaces all replicas by these snapshots. */
  only(snapshots: readonly Snapshot[]): void {
    this.#channels.clear()
    // Start at 0 again: a host restored from a backup may have lower numbers than the last one seen.
    this.lastSeen = 0
    this.snapshots(snapshots)
  }

  forget(uri: Uri): void {
    this.#channels.delete(uri)
  }

  /** Reduces an envelope into its replica. */
  apply({ channel, action, serverSeq, rejectionReason }: Envelope): Applied {
    if (serverSeq <= this.#onLink) return { problem: `number ${serverSeq} came after ${this.#onLink}` }
    this.#onLink = serverSeq
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    const replica = this.#channels.get(channel)
    if (!replica || rejectionReason !== undefined) return {}
    if (serverSeq <= replica.seq)
      return { problem: `${channel} had ${serverSeq} in its snapshot of ${replica.seq}` }
    const state =
      channel === rootUri
        ? reducers.root(replica.state as RootState, action)
        : reducers.session(replica.state as SessionState, action)
    this.#channels.set(channel, { state, seq: serverSeq })
    return { changed: !isDeepStrictEqual(state, replica.state) }
  }

  /** Describes the difference between a snapshot and the replica, if there is one. */
  difference({ resource, state, fromSeq }: Snapshot): string | undefined {
    const replica = this.#channels.get(resource)
    if (!replica || isDeepStrictEqual(replica.state, state)) return undefined
    const texts = [replica.state, state].map((each) => JSON.stringify(each).slice(0, 500))
    return `${resource} differs at ${fromSeq}: replica ${texts[0]}, snapshot ${texts[1]}`
  }
}
