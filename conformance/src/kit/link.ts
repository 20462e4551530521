import type { Envelope } from '@atrium/protocol/channel'
import type { MessageId } from '@atrium/protocol/rpc/message'
import type { WireError } from '@atrium/protocol/rpc/shapes'
import { rootUri } from '@atrium/protocol/uri'
import { WebSocket } from 'ws'
import { Failed, shown } from './check.ts'

/** Where the host is, and how long to wait for what never comes. */
export interface Target {
  readonly url: string
  readonly token?: string | undefined
  readonly timeoutMs: number
  /** The same for the end of a turn, which is up to an agent. */
  readonly turnMs?: number | undefined
}

export type Answer = { readonly result: unknown } | { readonly error: WireError }

export interface Note {
  readonly method: string
  readonly params: { readonly [key: string]: unknown }
}

/** One socket to the host. It keeps all that comes, in order, and understands no more than JSON-RPC. */
export class Link {
  /** Every frame as it was parsed. */
  readonly frames: unknown[] = []
  readonly envelopes: Envelope[] = []
  /** Notifications that are not envelopes. */
  readonly notes: Note[] = []
  /** Answers to nothing that was asked, or to what has been answered before. */
  readonly strays: unknown[] = []
  /** How the link ended, if it has. */
  closed: string | undefined
  readonly #socket: WebSocket
  readonly #timeoutMs: number
  readonly #pending = new Map<unknown, (answer: Answer) => void>()
  readonly #watchers = new Set<() => void>()
  #lastId = 0

  constructor({ url, token, timeoutMs }: Target) {
    this.#timeoutMs = timeoutMs
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#socket = new WebSocket(url, { headers, perMessageDeflate: false, handshakeTimeout: timeoutMs })
    this.#socket.on('open', () => this.#look())
    this.#socket.on('message', (data, binary) => this.#frame(data as Buffer, binary))
    this.#socket.on('error', ({ message }) => (this.closed ??= message))
    this.#socket.on('close', (code, reason) => this.#end(`closed with ${code} ${String(reason)}`.trimEnd()))
  }

  opened(): Promise<true> {
    return this.until('the link to open', () => this.#socket.readyState === WebSocket.OPEN || undefined)
  }

  /** Asks and waits; the channel is the root where none is given. */
  async ask(method: string, params: object = {}, id: MessageId = ++this.#lastId): Promise<Answer> {
    let answer: Answer | undefined
    this.#pending.set(id, (given) => (answer = given))
    this.say({ id, method, params: { channel: rootUri, ...params } })
    return this.until(`an answer to ${method}`, () => answer)
  }

  notify(method: string, params: object = {}): void {
    this.say({ method, params: { channel: rootUri, ...params } })
  }

  say(message: object): void {
    this.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text)
  }

  /** As a network does it: without a word. */
  cut(): void {
    this.#socket.terminate()
  }

  /** Waits on what has come; when that is not enough, says what it waited for. */
  until<T>(what: string, look: () => T | undefined, timeoutMs = this.#timeoutMs): Promise<T> {
    const seen = look()
    if (seen !== undefined) return Promise.resolve(seen)
    return new Promise((resolve, reject) => {
      const fail = (came: string) => settle(() => reject(new Failed(what, came)))
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

  #frame(data: Buffer, binary: boolean): void {
    try {
      if (binary) throw new Error('not a text frame')
      this.#take(JSON.parse(data.toString()) as Frame)
    } catch (error) {
      this.strays.push(`${shown(data.toString())}: ${(error as Error).message}`)
    }
    this.#look()
  }

  #take(frame: Frame): void {
    this.frames.push(frame)
    const { id, method, params } = frame
    if (method === undefined) return this.#answered(frame)
    // A host may ask for the client's files; this client has none.
    if (id !== undefined) return this.say({ id, error: { code: -32601, message: 'not served here' } })
    if (method === 'action') this.envelopes.push(params as Envelope)
    else this.notes.push({ method, params: (params ?? {}) as Note['params'] })
  }

  #answered(frame: Frame): void {
    const settle = this.#pending.get(frame.id)
    if (!settle) return void this.strays.push(frame)
    this.#pending.delete(frame.id)
    settle(frame.error ? { error: frame.error } : { result: frame.result })
  }

  #end(how: string): void {
    this.closed ??= how
    this.#look()
  }

  #look(): void {
    for (const watch of this.#watchers) watch()
  }
}

interface Frame {
  readonly id?: unknown
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: WireError
}
