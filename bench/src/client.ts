import { once } from 'node:events'
import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { WebSocket } from 'ws'
import { Replicas } from './replicas.ts'

const root = 'ahp-root://'

export interface Endpoint {
  readonly url: string
  readonly token: string
  /** Called when the host has destroyed the socket before its upgrade. Returns whether the client may try again. */
  readonly lateUpgrade?: () => boolean
}

/** How the host answered a reconnect. */
export type ReconnectType = 'replay' | 'snapshot'

interface Pending {
  readonly clientSeq: number
  readonly channel: Uri
  readonly action: Action
  readonly done: (envelope: Envelope) => void
}

/**
 * A client that checks the host: it reduces every envelope, sends pending actions again after a reconnect, and collects
 * every violation of the protocol. It can have several connections, one after the other.
 */
export class Client {
  readonly clientId: string
  readonly replicas = new Replicas()
  /** The violations of the protocol by the host. */
  readonly problems: string[] = []
  /** Called with every envelope, replayed or not, that changed the state of a subscribed channel. */
  onEnvelope: ((envelope: Envelope) => void) | undefined
  #socket: WebSocket | undefined
  #asked = new Map<number, Asked>()
  #pending = new Map<number, Pending>()
  #id = 0
  #clientSeq = 0

  constructor(clientId: string) {
    this.clientId = clientId
  }

  get pending(): number {
    return this.#pending.size
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  /** Resolves with the close code of the last connection. */
  ended: Promise<number> = Promise.resolve(1000)

  async initialize(endpoint: Endpoint, initialSubscriptions: readonly Uri[] = []): Promise<void> {
    await this.#connect(endpoint)
    const params = { protocolVersions: ['1.0.0'], clientId: this.clientId, initialSubscriptions }
    await this.ask('initialize', params, (result) =>
      this.replicas.snapshots((result as { snapshots: Snapshot[] }).snapshots),
    )
  }

  /** Opens a new connection, keeps the replicas, and sends the pending actions again. */
  async reconnect(endpoint: Endpoint): Promise<ReconnectType> {
    await this.#connect(endpoint)
    return this.resume()
  }

  /** Opens a connection without a handshake, so that a caller can time the handshake. */
  connect(endpoint: Endpoint): Promise<void> {
    return this.#connect(endpoint)
  }

  async resume(): Promise<ReconnectType> {
    const { lastSeen, channels } = this.replicas
    const params = { clientId: this.clientId, lastSeenServerSeq: lastSeen, subscriptions: channels }
    return (await this.ask('reconnect', params, (result) =>
      this.#applyReconnect(result as ReconnectResult),
    )) as ReconnectType
  }

  async subscribe(channel: Uri): Promise<void> {
    await this.ask('subscribe', { channel }, (result) =>
      this.replicas.snapshots([(result as { snapshot: Snapshot }).snapshot]),
    )
  }

  unsubscribe(channel: Uri): void {
    this.#send({ jsonrpc: '2.0', method: 'unsubscribe', params: { channel } })
    this.replicas.forget(channel)
  }

  /**
   * Subscribes again and compares the new snapshot with the replica. A difference is added to `problems`. The host
   * orders the response among the envelopes, so both show the same moment.
   */
  async compare(channel: Uri): Promise<void> {
    await this.ask('subscribe', { channel }, (result) => {
      const { snapshot } = result as { snapshot: Snapshot }
      const difference = this.replicas.difference(snapshot)
      if (difference !== undefined) this.problems.push(`${this.clientId}: ${difference}`)
      this.replicas.snapshots([snapshot])
    })
  }

  /** Dispatches an action. Resolves with its echo, accepted or rejected, which may come on a later connection. */
  dispatch(channel: Uri, action: Action): Promise<Envelope> {
    const clientSeq = ++this.#clientSeq
    return new Promise((done) => {
      const pending = { clientSeq, channel, action, done }
      this.#pending.set(clientSeq, pending)
      this.#sendDispatch(pending)
    })
  }

  /** Sends a request. `read` is called with the result before any later envelope is reduced. */
  ask(method: string, params: object, read: (result: unknown) => unknown = (it) => it): Promise<unknown> {
    if (!this.open) return Promise.reject(new LinkEnded(1006))
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { read, resolve, reject })
      this.#send({ jsonrpc: '2.0', id, method, params: { channel: root, ...params } })
    })
  }

  /** Sends a raw frame. */
  say(frame: string | Buffer): void {
    if (this.open) this.#socket?.send(frame)
  }

  pause(): void {
    this.#socket?.pause()
  }

  unpause(): void {
    this.#socket?.resume()
  }

  async leave(): Promise<void> {
    this.#socket?.close(1000)
    await this.ended
  }

  /** Ends the connection without a close frame. */
  async drop(): Promise<void> {
    this.#socket?.terminate()
    await this.ended
  }

  async #connect(endpoint: Endpoint): Promise<void> {
    const socket = await opened(endpoint)
    this.#socket = socket
    this.replicas.newLink()
    const asked = new Map<number, Asked>()
    this.#asked = asked
    socket.on('message', (data: Buffer) => this.#receive(socket, asked, data.toString()))
    socket.on('error', () => {})
    this.ended = once(socket, 'close').then(([code]) => {
      for (const { reject } of asked.values()) reject(new LinkEnded(code as number))
      return code as number
    })
  }

  #receive(socket: WebSocket, asked: Map<number, Asked>, frame: string): void {
    if (socket !== this.#socket) return
    const { id, method, params, result, error } = JSON.parse(frame) as Message
    if (method === 'action') return this.#take(params as Envelope)
    const request = asked.get(id ?? 0)
    asked.delete(id ?? 0)
    if (error) request?.reject(new Error(error.message))
    else request?.resolve(request.read(result))
  }

  #take(envelope: Envelope): void {
    const { problem, changed } = this.replicas.apply(envelope)
    if (problem !== undefined) this.problems.push(`${this.clientId}: ${problem}`)
    if (changed) this.onEnvelope?.(envelope)
    const { origin } = envelope
    if (origin?.clientId !== this.clientId) return
    const pending = this.#pending.get(origin.clientSeq)
    this.#pending.delete(origin.clientSeq)
    pending?.done(envelope)
  }

  #applyReconnect(result: ReconnectResult): ReconnectType {
    if (result.type === 'replay') {
      for (const envelope of result.actions) this.#take(envelope)
      for (const uri of result.missing) this.replicas.forget(uri)
    } else this.replicas.only(result.snapshots)
    for (const pending of this.#pending.values()) this.#sendDispatch(pending)
    return result.type
  }

  #sendDispatch({ clientSeq, channel, action }: Pending): void {
    this.#send({ jsonrpc: '2.0', method: 'dispatchAction', params: { channel, clientSeq, action } })
  }

  /** Drops the message if the connection is closed. Pending actions are sent again after the reconnect. */
  #send(message: object): void {
    if (this.open) this.#socket?.send(JSON.stringify(message))
  }
}

/**
 * Opens a connection. The host destroys a socket whose upgrade takes too long. This happens to a client that gets no
 * processor time on a busy machine. Such a client tries again, as real clients do.
 */
async function opened({ url, token, lateUpgrade }: Endpoint): Promise<WebSocket> {
  for (;;) {
    const headers = { authorization: `Bearer ${token}` }
    const socket = new WebSocket(url, { headers, perMessageDeflate: false })
    try {
      await once(socket, 'open')
      return socket
    } catch (error) {
      if (!/ECONNRESET|socket hang up/.test(String(error)) || !lateUpgrade?.()) throw error
    }
  }
}

export class LinkEnded extends Error {
  override readonly name = 'LinkEnded'
  readonly code: number

  constructor(code: number) {
    super(`the link ended with ${code}`)
    this.code = code
  }
}

interface Asked {
  readonly read: (result: unknown) => unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

type ReconnectResult =
  | { readonly type: 'replay'; readonly actions: readonly Envelope[]; readonly missing: readonly Uri[] }
  | { readonly type: 'snapshot'; readonly snapshots: readonly Snapshot[] }
