import type { Envelope, Snapshot, Uri } from '@atrium/protocol/channel'

/** A JSON-RPC message of the host. */
export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Parses a message. Returns undefined if the text is not JSON. */
export function parsed(text: string): Message | undefined {
  try {
    // The shape is not checked here: the judge checks every recorded frame.
    return JSON.parse(text) as Message
  } catch {
    return undefined
  }
}

/** What the result of a handshake or a subscription may have. */
export interface Shown {
  readonly snapshot?: Snapshot
  readonly snapshots?: readonly Snapshot[]
  readonly actions?: readonly Envelope[]
  readonly missing?: readonly Uri[]
}

export function snapshotsIn({ snapshot, snapshots }: Shown): readonly Snapshot[] {
  return snapshots ?? (snapshot ? [snapshot] : [])
}
