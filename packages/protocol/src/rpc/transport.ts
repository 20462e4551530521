/**
 * An ordered pipe of text frames, one message a frame. It loses nothing silently: what it cannot deliver ends it.
 * Every transport passes the suite in `transport.contract.ts`.
 */
export interface Transport {
  /** Bytes are the UTF-8 of a text, so that one buffer can go to many. */
  send(frame: string | Uint8Array): void
  /** Frames that arrived before anyone listened are delivered then, in order. There is one listener. */
  receive(listener: (frame: string) => void): void
  close(code?: number, reason?: string): void
  /** Aborted when the pipe has ended, from either side, after the last frame was delivered. */
  readonly closed: AbortSignal
  /** Bytes accepted by `send` and not yet handed to the other side. */
  readonly buffered: number
  /** Resolves when nothing is buffered, or the pipe has ended. */
  drained(): Promise<void>
}
