/**
 * An ordered, bidirectional stream of text frames, one message per frame. A frame that cannot be delivered closes the
 * transport, so no frame is lost silently. Every transport passes the suite in `transport.contract.ts`.
 */
export interface Transport {
  /** Sends a text, or its UTF-8 bytes. With bytes, one buffer can be sent to many clients. */
  send(frame: string | Uint8Array): void
  /** Sets the only listener. Frames that arrived before are delivered first, in order. */
  receive(listener: (frame: string) => void): void
  /** Stops receiving frames until `resume`, so that the sender must wait. A few frames may still arrive. */
  pause?(): void
  resume?(): void
  close(code?: number, reason?: string): void
  /** Aborted when either side has closed the transport and the last frame was delivered. */
  readonly closed: AbortSignal
  /** Number of bytes that `send` accepted and that are not yet delivered. */
  readonly buffered: number
  /** Resolves when no bytes are buffered, or when the transport is closed. */
  drained(): Promise<void>
}
