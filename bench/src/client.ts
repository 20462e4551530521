import { once } from 'node:events'
import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { WebSocket } from 'ws'
import { Replicas } from './replicas.ts'

const root = 'ahp-root://'

export interface Place {
  readonly url: string
  readonly token: string
}

/** How the host answered a return. */
export type Return = 'replay' | 'snapshot'

interface Pending {
  readonly clientSeq: number
  readonly channel: Uri
  readonly action: Action
  readonly done: (envelope: Envelope) => void
}

/**
 * A client that believes nothing: it folds what it is told, sends again what it does not know the end of, and notes
 * every broken promise. It outlives its links.
 */
export class Client {
  readonly clientId: string
  readonly replicas = new Replicas()
  /** What the host promised and did not keep. */
  readonly problems: string[] = []
  /** Sees every envelope that changed something it follows, replayed ones too. */
  told: ((envelope: Envelope) => void) | undefined
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

  /** The code that its last link ended with, once it has. */
  ended: Promise<number> = Promise.resolve(1000)

  async initialize(place: Place, initialSubscriptions: readonly Uri[] = []): Promise<void> {
    await this.#connect(place)
    const params = { protocolVersions: ['1.0.0'], clientId: this.clientId, initialSubscriptions }
    await this.ask('initialize', params, (result) =>
      this.replicas.snapshots((result as { snapshots: Snapshot[] }).snapshots),
    )
  }

  /** Comes back with what it has, and sends again what it does not know the end of. */
  async reconnect(place: Place): Promise<Return> {
    await this.#connect(place)
    return this.resume()
  }

  /** The link alone, for whoever wants to time what comes after it. */
  connect(place: Place): Promise<void> {
    return this.#connect(place)
  }

  async resume(): Promise<Return> {
    const { lastSeen, channels } = this.replicas
    const params = { clientId: this.clientId, lastSeenServerSeq: lastSeen, subscriptions: channels }
    return (await this.ask('reconnect', params, (result) => this.#back(result as Back))) as Return
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

  /** Asks for a channel again and compares: the answer stands exactly between what was told before and after it. */
  async compare(channel: Uri): Promise<void> {
    await this.ask('subscribe', { channel }, (result) => {
      const { snapshot } = result as { snapshot: Snapshot }
      const difference = this.replicas.difference(snapshot)
      if (difference !== undefined) this.problems.push(`${this.clientId}: ${difference}`)
      this.replicas.snapshots([snapshot])
    })
  }

  /** Resolves with the echo or the refusal, on whichever link it comes. */
  dispatch(channel: Uri, action: Action): Promise<Envelope> {
    const clientSeq = ++this.#clientSeq
    return new Promise((done) => {
      const pending = { clientSeq, channel, action, done }
      this.#pending.set(clientSeq, pending)
      this.#wish(pending)
    })
  }

  /** `read` sees the answer in its place among what is told. */
  ask(method: string, params: object, read: (result: unknown) => unknown = (it) => it): Promise<unknown> {
    if (!this.open) return Promise.reject(new LinkEnded(1006))
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { read, resolve, reject })
      this.#send({ jsonrpc: '2.0', id, method, params: { channel: root, ...params } })
    })
  }

  /** Whatever it likes. */
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

  /** Without a goodbye. */
  async drop(): Promise<void> {
    this.#socket?.terminate()
    await this.ended
  }

  async #connect({ url, token }: Place): Promise<void> {
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    })
    await once(socket, 'open')
    this.#socket = socket
    this.replicas.newLink()
    const asked = new Map<number, Asked>()
    this.#asked = asked
    socket.on('message', (data: Buffer) => this.#hear(socket, asked, data.toString()))
    socket.on('error', () => {})
    this.ended = once(socket, 'close').then(([code]) => {
      for (const { reject } of asked.values()) reject(new LinkEnded(code as number))
      return code as number
    })
  }

  #hear(socket: WebSocket, asked: Map<number, Asked>, frame: string): void {
    if (socket !== this.#socket) return
    const { id, method, params, result, error } = JSON.parse(frame) as Heard
    if (method === 'action') return this.#take(params as Envelope)
    const question = asked.get(id ?? 0)
    asked.delete(id ?? 0)
    if (error) question?.reject(new Error(error.message))
    else question?.resolve(question.read(result))
  }

  #take(envelope: Envelope): void {
    const { problem, changed } = this.replicas.take(envelope)
    if (problem !== undefined) this.problems.push(`${this.clientId}: ${problem}`)
    if (changed) this.told?.(envelope)
    const { origin } = envelope
    if (origin?.clientId !== this.clientId) return
    const pending = this.#pending.get(origin.clientSeq)
    this.#pending.delete(origin.clientSeq)
    pending?.done(envelope)
  }

  #back(result: Back): Return {
    if (result.type === 'replay') {
      for (const envelope of result.actions) this.#take(envelope)
      for (const uri of result.missing) this.replicas.forget(uri)
    } else this.replicas.only(result.snapshots)
    for (const pending of this.#pending.values()) this.#wish(pending)
    return result.type
  }

  #wish({ clientSeq, channel, action }: Pending): void {
    this.#send({ jsonrpc: '2.0', method: 'dispatchAction', params: { channel, clientSeq, action } })
  }

  /** Into a link that has ended nothing is said: what was meant is said again on the next. */
  #send(message: object): void {
    if (this.open) this.#socket?.send(JSON.stringify(message))
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

interface Heard {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

type Back =
  | { readonly type: 'replay'; readonly actions: readonly Envelope[]; readonly missing: readonly Uri[] }
  | { readonly type: 'snapshot'; readonly snapshots: readonly Snapshot[] }
