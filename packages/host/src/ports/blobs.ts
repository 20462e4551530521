import type { Uri } from '@atrium/protocol/channel'

/** Large content by its hash, kept for one session and forgotten with it. */
export interface Blobs {
  /** Durable when it resolves; the SHA-256 in hex. The same bytes are kept once a session. */
  put(session: Uri, bytes: Uint8Array): Promise<string>
  get(session: Uri, hash: string): Promise<Uint8Array | undefined>
  drop(session: Uri): Promise<void>
}
