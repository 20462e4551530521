import type { Uri } from '@atrium/protocol/channel'

/** Large contents by their hash. Each belongs to one session and is removed with it. */
export interface Blobs {
  /** Stores bytes durably and resolves with their SHA-256 in hex. A session keeps equal bytes once. */
  put(session: Uri, bytes: Uint8Array): Promise<string>
  get(session: Uri, hash: string): Promise<Uint8Array | undefined>
  drop(session: Uri): Promise<void>
}
