import type { Envelope } from '@atrium/protocol/channel'
import type { MessageId } from '@atrium/protocol/rpc/message'
import type { WireError } from '@atrium/protocol/rpc/shapes'
import { rootUri } from '@atrium/protocol/uri'
import { WebSocket } from 'ws'
import { Failed, excerpt } from './check.ts'

/** The address of the host, and the timeouts for waiting on it. */
export interface Target {
  readonly url: string
  readonly token?: string | undefined
  /** Opens a connection. Absent: a WebSocket to `url`. */
  readonly dial?: (() => Socket) | undefined
  /** The tokens that every client gives to the host right after its handshake. */
  readonly logins?: readonly Login[] | undefined
  readonly timeoutMs: number
  /** Timeout for the end of a turn, which depends on the agent. */
  readonly turnTimeoutMs?: number | undefined
}

/** A token for a protected resource that the host advertises. */
export interface Login {
  readonly resource: string
  readonly token: string
}

/** What a link needs of a WebSocket. */
export interface Socket {
  readonly readyState: number
  on(event: 'open', listener: () => void): unknown
  on(event: 'message', listener: (data: Buffer, binary: boolean) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown
  send(text: string): void
  terminate(): void
}

export type Answer = { readonly result: unknown } | { readonly error: WireError }

export interface Notification {
  readonly method: string
  readonly params: { readonly [key: string]: unknown }
}

/**
 * One WebSocket connection to the host. It keeps all received messages in the order of their arrival, and knows only
 * JSON-RPC.
 */
export class Link {
  /** Every frame, parsed. */
  readonly frames: unknown[] = []
  readonly envelopes: Envelope[] = []
  /** Notifications other than `action`. */
  readonly notifications: Notification[] = []
  /** Frames that cannot be read, and responses that match no open request. */
  readonly unmatched: unknown[] = []
  /** The reason why the connection ended; undefined while it is open. */
  closed: string | undefined
  readonly #socket: Socket
  readonly #timeoutMs: number
  readonly #pending = new Map<unknown, (answer: Answer) => void>()
  readonly #watchers = new Set<() => void>()
  #lastId = 0

  constructor(target: Target) {
    this.#timeoutMs = target.timeoutMs
    this.#socket = target.dial?.() ?? webSocket(target)
    this.#socket.on('open', () => this.#wakeWatchers())
    this.#socket.on('message', (data, binary) => this.#receive(data, binary))
    this.#socket.on('error', ({ message }) => (this.closed ??= message))
    this.#socket.on('close', (code, reason) => this.#end(`closed with ${code} ${String(reason)}`.trimEnd()))
  }

  opened(): Promise<true> {
    return this.until('the link to open', () => this.#socket.readyState === WebSocket.OPEN || undefined)
  }

  /** Sends a request and waits for its response. The channel is the root unless `params` names another. */
  async request(method: string, params: object = {}, id: MessageId = ++this.#lastId): Promise<Answer> {
    let answer: Answer | undefined
    this.#pending.set(id, (received) => (answer = received))
    this.sendMessage({ id, method, params: { channel: rootUri, ...params } })
    return this.until(`an answer to ${method}`, () => answer)
  }

  notify(method: string, params: object = {}): void {
    this.sendMessage({ method, params: { channel: rootUri, ...params } })
  }

  sendMessage(message: object): void {
    this.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text)
  }

  /** Ends the connection without a closing handshake, as a broken network does. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** Waits until `look` finds something in the received messages. Throws Failed, naming `what`, at the timeout. */
  until<T>(what: string, look: () => T | undefined, timeoutMs = this.#timeoutMs): Promise<T> {
    const seen = look()
    if (seen !== undefined) return Promise.resolve(seen)
    return new Promise((resolve, reject) => {
      const fail = (actual: string) => settle(() => reject(new Failed(what, actual)))
      const watch = () => {
        const found = look()
        if (found !== undefined) settle(() => resolve(found))
        else if (this.closed !== undefined) fail(`the link ended: ${this.closed}`)
      }
      const timer = setTimeout(() => fail(`nothing of the kind in ${timeoutMs} ms`), timeoutMs)
      const settle = (how: () => void) => {
        clearTimeout(timer)
        this.#watchers.delete(watch)
        how()
      }
      this.#watchers.add(watch)
      watch()
    })
  }

  #receive(data: Buffer, binary: boolean): void {
    try {
      if (binary) throw new Error('not a text frame')
      this.#sort(JSON.parse(data.toString()) as Frame)
    } catch (error) {
      this.unmatched.push(`${excerpt(data.toString())}: ${(error as Error).message}`)
    }
    this.#wakeWatchers()
  }

  #sort(frame: Frame): void {
    this.frames.push(frame)
    const { id, method, params } = frame
    if (method === undefined) return this.#settle(frame)
    // A host may request files of the client. This client serves none, so it refuses every request.
    if (id !== undefined) return this.sendMessage({ id, error: { code: -32601, message: 'not served here' } })
    // The envelope is not checked here. A rule that does not trust an envelope checks its shape.
    if (method === 'action') this.envelopes.push(params as Envelope)
    else this.notifications.push({ method, params: (params ?? {}) as Notification['params'] })
  }

  #settle(frame: Frame): void {
    const settle = this.#pending.get(frame.id)
    if (!settle) return void this.unmatched.push(frame)
    this.#pending.delete(frame.id)
    settle(frame.error ? { error: frame.error } : { result: frame.result })
  }

  #end(how: string): void {
    this.closed ??= how
    this.#wakeWatchers()
  }

  #wakeWatchers(): void {
    for (const watch of this.#watchers) watch()
  }
}

/** `ws` delivers a Buffer unless `binaryType` is changed. */
function webSocket({ url, token, timeoutMs }: Target): Socket {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new WebSocket(url, { headers, perMessageDeflate: false, handshakeTimeout: timeoutMs })
}

interface Frame {
  readonly id?: unknown
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: WireError
}
