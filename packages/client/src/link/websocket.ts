import type { Transport } from '@atrium/protocol/rpc/transport'
import { Refused } from './reconnect.ts'

/**
 * The WebSocket interface that browsers, Node 22, undici and the package `ws` share. Each event has a signature of its own, because
 * their types connect the listener with the event.
 */
export interface Socket {
  readonly readyState: number
  readonly bufferedAmount: number
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: CloseEvent) => void): void
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void
}

export type SocketConstructor = new (url: string) => Socket

/** Opens a socket. Rejects if no host answers, or if the host refuses the token or the origin. */
export function openSocket(Socket: SocketConstructor, url: string): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const socket = new Socket(url)
    const transport = new SocketTransport(socket)
    let problem = ''
    socket.addEventListener('open', () => resolve(transport))
    socket.addEventListener('error', ({ message = '' }: { message?: string }) => void (problem = message))
    socket.addEventListener('close', ({ code, reason }: CloseEvent) => {
      // The HTTP statuses 401 and 403 mean a refused token or origin, so no further attempt is made. Browsers do not
      // reveal the status, so in a browser the client tries again.
      if (/\b40[13]\b/.test(problem)) reject(new Refused('the host refuses this token or origin'))
      else reject(new Error(problem || reason || `no host answers (${code})`))
    })
  })
}

interface CloseEvent {
  readonly code: number
  readonly reason: string
}

const open = 1

class SocketTransport implements Transport {
  readonly #socket: Socket
  readonly #ending = new AbortController()
  readonly #arrived: string[] = []
  #listener: ((frame: string) => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }: { data: unknown }) => this.#message(data))
    socket.addEventListener('close', ({ code, reason }: CloseEvent) =>
      this.#ending.abort(new Error(reason || `the link closed (${code})`)),
    )
  }

  get closed(): AbortSignal {
    return this.#ending.signal
  }

  get buffered(): number {
    return this.#socket.bufferedAmount
  }

  send(frame: string | Uint8Array): void {
    if (this.#socket.readyState !== open) return
    this.#socket.send(typeof frame === 'string' ? frame : new TextDecoder().decode(frame))
  }

  receive(listener: (frame: string) => void): void {
    for (let frame = this.#arrived.shift(); frame !== undefined; frame = this.#arrived.shift())
      listener(frame)
    this.#listener = listener
  }

  /** Closes the socket. `closed` is aborted at once, because a dead peer never completes the closing handshake. */
  close(code = 1000, reason = ''): void {
    this.#socket.close(code, reason)
    this.#ending.abort(new Error(reason || 'this client has closed the link'))
  }

  /** Resolves at once, because this interface has no event for drained buffers. */
  drained(): Promise<void> {
    return Promise.resolve()
  }

  #message(data: unknown): void {
    if (this.closed.aborted) return
    if (typeof data !== 'string') return this.close(1003, 'only text frames are accepted')
    if (this.#listener) this.#listener(data)
    else this.#arrived.push(data)
  }
}
