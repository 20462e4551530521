import type { Transport } from '@atrium/protocol/rpc/transport'
import { Refused } from './reconnect.ts'

/** What browsers, Node 22 and the package `ws` have in common. */
export interface Socket {
  readonly readyState: number
  readonly bufferedAmount: number
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void
}

export type SocketConstructor = new (url: string) => Socket

/** Opens a socket; rejects when there is no host, or when it will not have us. */
export function openSocket(Socket: SocketConstructor, url: string): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const socket = new Socket(url)
    const transport = new SocketTransport(socket)
    let problem = ''
    socket.addEventListener('open', () => resolve(transport))
    socket.addEventListener('error', ({ message = '' }: { message?: string }) => void (problem = message))
    socket.addEventListener('close', ({ code, reason }: CloseEvent) => {
      // A browser does not say why; where it is said, a wrong token stays wrong however often it is shown.
      if (/\b40[13]\b/.test(problem)) reject(new Refused('the host refuses this token'))
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

  /** Ended here at once: a peer that is gone would let us wait for its half of the goodbye. */
  close(code = 1000, reason = ''): void {
    this.#socket.close(code, reason)
    this.#ending.abort(new Error(reason || 'closed here'))
  }

  /** No socket of this kind tells: what is asked for is sent without waiting. */
  drained(): Promise<void> {
    return Promise.resolve()
  }

  #message(data: unknown): void {
    if (this.closed.aborted) return
    if (typeof data !== 'string') return this.close(1003, 'only text is spoken here')
    if (this.#listener) this.#listener(data)
    else this.#arrived.push(data)
  }
}
