import type { Duplex } from 'node:stream'
import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { WebSocket } from 'ws'

/** How every socket that becomes a transport is opened, on either side: the bounds are kept by `ws` itself. */
export const socketOptions = {
  /** Beyond this a message is not read to its end: the link closes with 1009 (S-20). */
  maxPayload: limits.messageBytes,
  /** Beyond this the link closes with 1008 (S-21). */
  maxFragments: limits.fragments,
  /** A small frame may unpack to a large one, and every link would pay for a window (S-21). */
  perMessageDeflate: false,
  /** The transport answers pings itself: see `#pong`. */
  autoPong: false,
  /** A peer that does not answer a close is let go after so long. */
  closeTimeout: 2000,
}

/** A link ended; 1006 when nobody said why. */
export class SocketClosed extends Error {
  override readonly name = 'SocketClosed'
  readonly code: number

  constructor(code: number, reason: string) {
    super(reason === '' ? `closed with ${code}` : `closed with ${code}: ${reason}`)
    this.code = code
  }
}

/**
 * An open WebSocket as a transport: text frames, one message a frame. With the `wire` below it, all that is sent in one
 * turn of the event loop leaves in one write.
 */
export function websocketTransport(socket: WebSocket, wire?: Duplex): Transport {
  return new SocketTransport(socket, wire)
}

class SocketTransport implements Transport {
  readonly #socket: WebSocket
  readonly #wire: Duplex | undefined
  readonly #ending = new AbortController()
  readonly #arrived: string[] = []
  readonly #waiting: (() => void)[] = []
  #listener: ((frame: string) => void) | undefined
  #unwritten = 0
  #corked = false
  #ponging = false
  #lastPing: Buffer | undefined
  #controls = 0

  constructor(socket: WebSocket, wire: Duplex | undefined) {
    this.#socket = socket
    this.#wire = wire
    socket.on('message', (data: Buffer, binary: boolean) => this.#message(data, binary))
    socket.on('ping', (data: Buffer) => this.#pong(data))
    for (const event of ['ping', 'pong'] as const) socket.on(event, () => this.#control())
    socket.on('close', (code: number, reason: Buffer) => this.#end(code, reason.toString()))
    // The close that follows says the same with a code.
    socket.on('error', () => {})
  }

  get closed(): AbortSignal {
    return this.#ending.signal
  }

  get buffered(): number {
    // What is corked counts as unwritten there. Pongs do too, but only frames are waited for.
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
    for (const frame of this.#arrived.splice(0)) listener(frame)
  }

  close(code = 1000, reason = ''): void {
    this.#socket.close(code, clipped(reason))
  }

  drained(): Promise<void> {
    if (this.#unwritten === 0 || this.#ending.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #message(data: Buffer, binary: boolean): void {
    // Whoever has closed a link listens no more, as in a browser.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (binary) return this.close(1003, 'text frames only')
    const frame = data.toString()
    if (this.#listener) this.#listener(frame)
    else this.#arrived.push(frame)
  }

  /** One pong at a time, for the newest ping: who pings and does not read costs one frame (S-21, RFC 6455 5.5.3). */
  #pong(data: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#ponging) {
      this.#lastPing = data
      return
    }
    this.#ponging = true
    this.#socket.pong(data, undefined, () => {
      this.#ponging = false
      const next = this.#lastPing
      this.#lastPing = undefined
      if (next) this.#pong(next)
    })
  }

  /** They are small and answered with little, but not for nothing: they are counted like messages (S-21). */
  #control(): void {
    if (this.#controls++ === 0) setTimeout(() => (this.#controls = 0), limits.windowMs).unref()
    if (this.#controls > limits.controlFrames) this.close(1008, 'too many control frames')
  }

  #cork(): void {
    if (this.#corked || !this.#wire) return
    this.#corked = true
    this.#wire.cork()
    // Not a microtask: what one read of many sockets and one flush bring about shall go out together.
    setImmediate(this.#uncork)
  }

  readonly #uncork = (): void => {
    this.#corked = false
    this.#wire?.uncork()
  }

  readonly #written = (): void => {
    if (--this.#unwritten === 0) this.#settle()
  }

  #end(code: number, reason: string): void {
    this.#ending.abort(new SocketClosed(code, reason))
    this.#settle()
  }

  #settle(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

const asText = { binary: false }

/** A close frame holds 123 bytes of reason. */
function clipped(reason: string): string {
  let text = reason
  while (Buffer.byteLength(text) > 123) text = text.slice(0, -1)
  return text
}
