import type { Duplex } from 'node:stream'
import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { WebSocket } from 'ws'

/** The options of every WebSocket, on both sides. The library `ws` enforces these limits. */
export const socketOptions = {
  /** A larger message is not read to its end; the connection closes with 1009 (S-20). */
  maxPayload: limits.messageBytes,
  /** A message with more fragments closes the connection with 1008 (S-21). */
  maxFragments: limits.fragments,
  /** Off: a small compressed frame may expand to a large one, and each connection would need memory for a window (S-21). */
  perMessageDeflate: false,
  /** Off: the transport answers pings itself, see `#pong`. */
  autoPong: false,
  /** The time to wait for the peer's close frame, in milliseconds. */
  closeTimeout: 2000,
}

/** The reason why a connection has ended. The code is 1006 if there was no close frame. */
export class SocketClosed extends Error {
  override readonly name = 'SocketClosed'
  readonly code: number

  constructor(code: number, reason: string) {
    super(reason === '' ? `closed with ${code}` : `closed with ${code}: ${reason}`)
    this.code = code
  }
}

/**
 * Returns an open WebSocket as a transport: text frames, one message in each. With `wire`, the stream below the
 * WebSocket, all frames sent in one turn of the event loop leave in one system call.
 */
export function websocketTransport(socket: WebSocket, wire?: Duplex): Transport {
  return new SocketTransport(socket, wire)
}

class SocketTransport implements Transport {
  readonly #socket: WebSocket
  readonly #wire: Duplex | undefined
  readonly #closed = new AbortController()
  readonly #unreceived: string[] = []
  readonly #drainWaiters: (() => void)[] = []
  #listener: ((frame: string) => void) | undefined
  #unwritten = 0
  #corked = false
  #pongInFlight = false
  #nextPing: Buffer | undefined
  #controlFrames = 0

  constructor(socket: WebSocket, wire: Duplex | undefined) {
    this.#socket = socket
    this.#wire = wire
    socket.on('message', (data: Buffer, binary: boolean) => this.#message(data, binary))
    socket.on('ping', (data: Buffer) => this.#pong(data))
    for (const event of ['ping', 'pong'] as const) socket.on(event, () => this.#countControlFrame())
    socket.on('close', (code: number, reason: Buffer) => this.#end(code, reason.toString()))
    // Errors need no handling here: a close event with a code follows each error.
    socket.on('error', () => {})
  }

  get closed(): AbortSignal {
    return this.#closed.signal
  }

  get buffered(): number {
    // `bufferedAmount` includes corked frames and pongs. If only pongs are unsent, the result is 0: nobody waits for
    // pongs.
    return this.#unwritten === 0 ? 0 : this.#socket.bufferedAmount
  }

  send(frame: string | Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#cork()
    this.#unwritten++
    this.#socket.send(typeof frame === 'string' ? Buffer.from(frame) : frame, asText, this.#written)
  }

  receive(listener: (frame: string) => void): void {
    this.#listener = listener
    for (const frame of this.#unreceived.splice(0)) listener(frame)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(code = 1000, reason = ''): void {
    // A paused socket would never read the close frame with which the peer answers.
    this.resume()
    this.#socket.close(code, clipped(reason))
  }

  drained(): Promise<void> {
    if (this.#unwritten === 0 || this.#closed.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => this.#drainWaiters.push(resolve))
  }

  #message(data: Buffer, binary: boolean): void {
    // After `close` no more frames are received, as in a browser.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (binary) return this.close(1003, 'text frames only')
    const frame = data.toString()
    if (this.#listener) this.#listener(frame)
    else this.#unreceived.push(frame)
  }

  /** Sends one pong at a time, for the newest ping: a peer that does not read costs one frame (S-21, RFC 6455 5.5.3). */
  #pong(data: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#pongInFlight) {
      this.#nextPing = data
      return
    }
    this.#pongInFlight = true
    this.#socket.pong(data, undefined, () => {
      this.#pongInFlight = false
      const next = this.#nextPing
      this.#nextPing = undefined
      if (next) this.#pong(next)
    })
  }

  /** Closes the connection after too many control frames within `windowMs` (S-21). */
  #countControlFrame(): void {
    if (this.#controlFrames++ === 0) setTimeout(() => (this.#controlFrames = 0), limits.windowMs).unref()
    if (this.#controlFrames > limits.controlFrames) this.close(1008, 'too many control frames')
  }

  #cork(): void {
    if (this.#corked || !this.#wire) return
    this.#corked = true
    this.#wire.cork()
    // All frames that are sent in this turn of the event loop leave together. A microtask would run too early for
    // this.
    setImmediate(this.#uncork)
  }

  readonly #uncork = (): void => {
    this.#corked = false
    this.#wire?.uncork()
  }

  readonly #written = (): void => {
    if (--this.#unwritten === 0) this.#resolveDrained()
  }

  #end(code: number, reason: string): void {
    this.#closed.abort(new SocketClosed(code, reason))
    this.#resolveDrained()
  }

  #resolveDrained(): void {
    for (const resolve of this.#drainWaiters.splice(0)) resolve()
  }
}

const asText = { binary: false }

/** Shortens a close reason to the 123 bytes that a close frame can hold. */
function clipped(reason: string): string {
  let text = reason
  while (Buffer.byteLength(text) > 123) text = text.slice(0, -1)
  return text
}
