import type { Uri } from '@atrium/protocol/channel'

/** Large contents, found by their hash. Each content belongs to one session and is removed with that session. */
export interface Blobs {
  /** Stores bytes durably and resolves with their SHA-256 in hex. Equal bytes of one session are stored once. */
  put(session: Uri, bytes: Uint8Array): Promise<string>
  get(session: Uri, hash: string): Promise<Uint8Array | undefined>
  drop(session: Uri): Promise<void>
}
