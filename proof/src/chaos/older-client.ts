import type { Action, Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { oracle } from '@atrium/protocol/oracles'
import { Wire } from '@atrium/protocol/oracles/wire'
import type { Value } from '@atrium/protocol/oracles/wire'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { WebSocket } from 'ws'
import { LinkLost, Refused } from './errors.ts'
import { Recorder } from './history.ts'
import type { Address } from './host.ts'

interface Envelope {
  readonly channel?: Uri
  readonly action: Action
  readonly serverSeq: number
  readonly origin?: { readonly clientId: string; readonly clientSeq: number }
  readonly rejectionReason?: string
}

interface Snapshot {
  readonly resource: Uri
  readonly state: object
  readonly fromSeq: number
}

interface Answer {
  readonly snapshot?: Snapshot
  readonly snapshots?: readonly Snapshot[]
  readonly actions?: readonly Envelope[]
  readonly missing?: readonly Uri[]
  readonly serverSeq?: number
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: Answer
  readonly error?: { readonly code: number; readonly message: string }
}

/** The kinds of channels that an older client follows. */
export type FollowedKind = 'root' | 'session' | 'chat'

/**
 * A client of an older protocol version. It writes messages and names channels as that version does. It reduces what
 * it receives with the reducers of the version, so that its states can be compared with those of a new subscriber.
 */
export class OlderClient {
  readonly id: string
  readonly version: Version
  readonly states = new Map<Uri, object>()
  readonly #wire: Wire
  /** The number of successful reconnects. */
  returns = 0
  readonly #recorder: Recorder
  readonly #waiting = new Set<() => void>()
  readonly #responses = new Map<number, Message>()
  #pending: readonly { readonly name: Uri; readonly clientSeq: number; readonly action: Action }[] = []
  #socket: WebSocket | undefined
  #link = 0
  #lastId = 0
  #lastClientSeq = 0
  #lastSeen = 0
  #initialized = false

  constructor(folder: string, id: string, version: Version) {
    this.id = id
    this.version = version
    this.#wire = new Wire(version)
    // The judge reads every file that ends in `.jsonl`, and understands only AHP 1.0. So this file has another
    // ending.
    this.#recorder = new Recorder(folder, `${id}.frames`, '')
  }

  /** Whether a session and its default chat are one channel. They are up to 0.3. */
  get merged(): boolean {
    return this.#wire.merged
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  get pending(): number {
    return this.#pending.length
  }

  get pendingText(): string {
    return `${this.id} (${this.open ? 'open' : 'shut'}): ${JSON.stringify(this.#pending)}`
  }

  nameOf(uri: Uri): Uri {
    if (uri === rootUri) return this.#wire.root
    return this.#wire.nested ? uri.replace('ahp-session:', 'guide:') : uri
  }

  /** Returns the channel of the turns of a session. */
  turnsOf(session: Uri): Uri {
    return this.merged ? this.nameOf(session) : defaultChatUri(session)
  }

  kindOf(name: Uri): FollowedKind {
    if (name === this.nameOf(rootUri)) return 'root'
    return name.startsWith('ahp-chat:') ? 'chat' : 'session'
  }

  async connect({ url, token, host }: Address): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, ...(host !== undefined && { host }) }
    const socket = new WebSocket(url, { headers, handshakeTimeout: 20_000 })
    const link = ++this.#link
    this.#socket = socket
    this.#responses.clear()
    socket.on('message', (data: Buffer) => this.#receive(socket, link, data.toString()))
    for (const event of ['open', 'close'] as const) socket.on(event, () => this.#wake())
    socket.on('error', () => {})
    await this.until(() => socket.readyState !== WebSocket.CONNECTING)
    await (this.#initialized ? this.#reconnect() : this.#initialize())
    for (const { name, clientSeq, action } of this.#pending) this.#sendAction(name, clientSeq, action)
  }

  cut(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.terminate()
    this.#wake()
  }

  flush(): void {
    this.#recorder.flush()
  }

  dispatch(name: Uri, action: Action): void {
    const clientSeq = ++this.#lastClientSeq
    this.#pending = [...this.#pending, { name, clientSeq, action }]
    this.#sendAction(name, clientSeq, action)
  }

  /** Subscribes to a channel. If it does not exist, forgets it, and the actions sent to it. */
  async subscribe(name: Uri): Promise<void> {
    try {
      await this.ask('subscribe', {}, name)
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== errorCodes.NotFound) throw error
      this.#drop(name)
    }
  }

  /** Resolves when every action that this client ever sent has an outcome. */
  async settle(): Promise<void> {
    for (const name of new Set(this.#pending.map((one) => one.name))) await this.subscribe(name)
    await this.until(() => this.#pending.length === 0)
  }

  async ask(method: string, params: Value = {}, channel = this.#wire.root): Promise<Answer> {
    const id = ++this.#lastId
    this.#send({ id, method, params: this.#wire.params(method, channel, params) })
    await this.until(() => this.#responses.has(id))
    const { result, error } = this.#responses.get(id) ?? {}
    if (error) throw new Refused(error)
    return result ?? {}
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (!this.#socket || this.#socket.readyState > WebSocket.OPEN)
        throw new LinkLost(`${this.id} lost its link`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  async #initialize(): Promise<void> {
    this.states.clear()
    const initialSubscriptions = [this.nameOf(rootUri)]
    await this.ask('initialize', {
      protocolVersions: [this.version],
      clientId: this.id,
      initialSubscriptions,
    })
    this.#initialized = true
  }

  async #reconnect(): Promise<void> {
    const subscriptions = [...this.states.keys()]
    try {
      const { missing, snapshots } = await this.ask('reconnect', {
        clientId: this.id,
        lastSeenServerSeq: this.#lastSeen,
        subscriptions,
      })
      const there = snapshots?.map(({ resource }) => resource)
      for (const name of missing ?? subscriptions.filter((each) => !there?.includes(each)))
        this.states.delete(name)
      this.returns++
    } catch (error) {
      // The host does not know this client, because the host was killed before it had stored the client.
      if (!(error instanceof Refused) || error.code !== errorCodes.NotFound) throw error
      await this.#initialize()
    }
  }

  #sendAction(name: Uri, clientSeq: number, action: Action): void {
    this.#send({ method: 'dispatchAction', params: this.#wire.dispatch(name, clientSeq, action) })
  }

  #send(message: object): void {
    if (!this.open) return
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#recorder.write(this.#link, 'out', text)
    this.#socket?.send(text)
  }

  #receive(socket: WebSocket, link: number, text: string): void {
    if (socket !== this.#socket) return
    this.#recorder.write(link, 'in', text)
    const message = JSON.parse(text) as Message
    if (message.method === 'action') this.#apply(message.params as Envelope)
    else if (message.method !== undefined) this.#notified(message.method, message.params as Value)
    const { snapshot, snapshots = [], actions = [], serverSeq = 0 } = message.result ?? {}
    for (const each of [...snapshots, ...(snapshot ? [snapshot] : [])]) {
      this.states.set(each.resource, each.state)
      this.#lastSeen = Math.max(this.#lastSeen, each.fromSeq)
    }
    for (const each of actions) this.#apply(each)
    this.#lastSeen = Math.max(this.#lastSeen, serverSeq)
    if (message.id !== undefined) this.#responses.set(message.id, message)
    this.#wake()
  }

  /** Drops a channel that is gone, with its pending actions: the host ignored them. */
  #drop(name: Uri): void {
    this.states.delete(name)
    this.#pending = this.#pending.filter((one) => one.name !== name)
  }

  /** Handles a notification. If the notification says that a session was removed, drops the session and its chat. */
  #notified(given: string, said: Value): void {
    const { method, params } = this.#wire.notice(given, said)
    if (method !== 'root/sessionRemoved') return
    const name = String(params['session'])
    for (const each of [name, this.merged ? name : defaultChatUri(name)]) this.#drop(each)
  }

  #apply(envelope: Envelope): void {
    const { action, serverSeq, origin, rejectionReason } = envelope
    this.#lastSeen = Math.max(this.#lastSeen, serverSeq)
    if (origin?.clientId === this.id)
      this.#pending = this.#pending.filter(({ clientSeq }) => clientSeq !== origin.clientSeq)
    const name = this.#wire.channelOf(envelope) ?? ''
    const state = this.states.get(name)
    if (!state || rejectionReason !== undefined) return
    const reduce = oracle(this.version)[this.kindOf(name)]
    if (reduce) this.states.set(name, reduce(state, action, 0) as object)
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}
