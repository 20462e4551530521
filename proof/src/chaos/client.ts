import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import type { Message } from '../message.ts'
import { Refused } from './errors.ts'
import { Recorder } from './history.ts'
import type { Address } from './host.ts'
import { RecordedLink } from './recorded-link.ts'

/** An action that a client has dispatched. */
export interface Dispatch {
  readonly channel: Uri
  readonly clientSeq: number
  readonly action: Action
}

/** An action or request whose outcome is not known. It is sent again on the next link. */
type Pending =
  | Dispatch
  | {
      readonly channel: Uri
      readonly method: 'createSession' | 'disposeSession'
      readonly onCreated?: () => void
    }

/**
 * A correct client that records every frame. It checks nothing: the judge checks the recorded frames after the run.
 */
export class Client {
  readonly id: string
  readonly subscriptions = new Set<Uri>()
  /** Channels that this client knows to be gone. */
  readonly gone = new Set<Uri>()
  /** Channels that the host refused to show, because they are damaged. */
  readonly refused = new Set<Uri>()
  readonly shown = new Map<Uri, unknown>()
  /** The last turn that this client started, or tried to start, in each chat. */
  readonly lastTurns = new Map<Uri, string>()
  /** The host's answers to the actions of this client, newest last. */
  readonly answers: Envelope[] = []
  lastSeen = 0
  /** The channels that the host called damaged when this client was initialized. */
  damaged: readonly Uri[] = []
  /** How often the host has told that its disk is full, or has space again. */
  toldFull = 0
  /** The number of successful reconnects. */
  returns = 0
  readonly link: RecordedLink
  readonly #recorder: Recorder
  #pending: readonly Pending[] = []
  #lastClientSeq = 0
  #initialized = false

  constructor(folder: string, id: string, extension?: string) {
    this.id = id
    this.#recorder = new Recorder(folder, id, extension)
    this.link = new RecordedLink(this.#recorder, id, (message) => this.#receive(this.heard(message)))
  }

  /** Returns the name by which the client's version knows a channel. */
  nameOf(uri: Uri): Uri {
    return uri
  }

  /** Returns the channel of the turns of a session. */
  turnsOf(session: Uri): Uri {
    return defaultChatUri(session)
  }

  protected readonly versions: readonly string[] = ['1.0.0']

  /** Returns the params of a request or notification, as the client's version writes them. */
  protected params(_method: string, channel: Uri, params: object): object {
    return { channel, ...params }
  }

  protected dispatchParams(dispatch: Dispatch): object {
    return dispatch
  }

  /** Called with every message before anybody who waits for it goes on. Returns the message as AHP 1.0 writes it. */
  protected heard(message: Message): Message {
    return message
  }

  /** Called when the client no longer follows a channel. */
  protected left(channel: Uri): void {
    this.subscriptions.delete(channel)
  }

  get open(): boolean {
    return this.link.open
  }

  get pending(): number {
    return this.#pending.length
  }

  /** The pending actions of this client, for an error message. */
  get pendingText(): string {
    return `${this.id} (${this.open ? 'open' : 'shut'}): ${JSON.stringify(this.#pending)}`
  }

  /** Opens a link: with `initialize` the first time, else with `reconnect`. Then resends everything pending. */
  async connect(address: Address): Promise<void> {
    await this.link.connect(address)
    await (this.#initialized ? this.#reconnect() : this.#initialize())
    for (const pending of this.#pending) this.#sendPending(pending)
  }

  /** Ends the link without a close frame. */
  cut(): void {
    this.link.cut()
  }

  dispatch(channel: Uri, action: Action): void {
    this.#add({ channel, clientSeq: ++this.#lastClientSeq, action })
  }

  /** Creates a session. `onCreated` is called when the session durably exists. */
  create(channel: Uri, onCreated: () => void = () => {}): void {
    this.#add({ channel, method: 'createSession', onCreated })
  }

  dispose(channel: Uri): void {
    this.#add({ channel, method: 'disposeSession' })
  }

  /** Subscribes to a channel if it exists. */
  async subscribe(channel: Uri): Promise<void> {
    try {
      const { snapshot } = (await this.ask('subscribe', { channel })) as { snapshot: Snapshot }
      this.#onSnapshots([snapshot])
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (missingCodes.has(error.code)) this.#drop(channel)
      else if (error.code !== errorCodes.InternalError) throw error
      else this.refused.add(channel)
    }
  }

  unsubscribe(channel: Uri): void {
    this.left(channel)
    this.link.send({ method: 'unsubscribe', params: this.params('unsubscribe', channel, {}) })
  }

  /** Resolves when every action and request that this client ever sent has an outcome. */
  async settle(): Promise<void> {
    // A session whose creation was refused for now does not exist yet, and is not gone.
    await this.until(() => !this.#pending.some((one) => 'method' in one && one.method === 'createSession'))
    const channels = new Set(this.#pending.map(({ channel }) => channel))
    channels.delete(rootUri)
    // The host answers in order, so the answer to `subscribe` comes after the answers to all earlier frames. If the
    // channel does not exist by then, the host has ignored the actions sent to it.
    for (const channel of channels) await this.subscribe(channel)
    await this.until(() => this.#pending.length === 0)
  }

  ask(method: string, { channel = rootUri, ...params }: Asked = {}): Promise<unknown> {
    return this.link.call(method, this.params(method, channel, params))
  }

  /** Waits for a condition, and tests it after every frame. Throws when the link ends first. */
  until(condition: () => boolean): Promise<void> {
    return this.link.until(condition)
  }

  flush(): void {
    this.#recorder.flush()
  }

  async #initialize(): Promise<void> {
    const params = {
      protocolVersions: this.versions,
      clientId: this.id,
      initialSubscriptions: [this.nameOf(rootUri), ...this.subscriptions],
    }
    const { serverSeq, snapshots, _meta } = (await this.ask('initialize', params)) as {
      serverSeq: number
      snapshots: readonly Snapshot[]
      _meta?: { readonly 'x-atrium': { readonly damaged?: object } }
    }
    this.damaged = Object.keys(_meta?.['x-atrium'].damaged ?? {})
    this.#initialized = true
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    this.#onSnapshots(snapshots)
  }

  async #reconnect(): Promise<void> {
    const subscriptions = [...this.subscriptions]
    const params = { clientId: this.id, lastSeenServerSeq: this.lastSeen, subscriptions }
    try {
      const answer = (await this.ask('reconnect', params)) as {
        readonly actions?: readonly Envelope[]
        readonly missing?: readonly Uri[]
        readonly snapshots?: readonly Snapshot[]
      }
      for (const envelope of answer.actions ?? []) this.#onEnvelope(envelope)
      const there = answer.snapshots?.map(({ resource }) => resource)
      const missing = answer.missing ?? subscriptions.filter((uri) => !there?.includes(uri))
      for (const uri of missing) this.left(uri)
      this.#onSnapshots(answer.snapshots ?? [])
      this.returns++
    } catch (error) {
      // The host does not know this client, because the host was killed before it had stored the client.
      if (!(error instanceof Refused) || error.code !== errorCodes.NotFound) throw error
      await this.#initialize()
    }
  }

  #add(pending: Pending): void {
    this.#pending = [...this.#pending, pending]
    this.#sendPending(pending)
  }

  /** `again`: the host has refused the request on this link before. */
  #sendPending(pending: Pending, again = false): void {
    if (!('method' in pending))
      return this.link.send({ method: 'dispatchAction', params: this.dispatchParams(pending) })
    const { method, channel } = pending
    const done = (error?: unknown): void => {
      if (error !== undefined && !(error instanceof Refused)) return
      // The host answers `PermissionDenied` while its disk is full, or its database away. The request stays pending.
      if (error instanceof Refused && error.code === errorCodes.PermissionDenied)
        return this.#sendLater(pending)
      this.#pending = this.#pending.filter((other) => other !== pending)
      pending.onCreated?.()
      // The session did not exist when its first actions arrived, so the host has ignored them. They get new numbers, because what was
      // sent since has later ones.
      if (again && error === undefined && method === 'createSession') this.#sendActions(channel)
      if (method === 'disposeSession') this.#dropSession(channel)
      this.link.wake()
    }
    this.ask(method, { channel }).then(() => done(), done)
  }

  /** Sends a request again after a while, if it is still pending and its link is open. */
  #sendLater(pending: Pending): void {
    const { number } = this.link
    const due = () => number === this.link.number && this.open && this.#pending.includes(pending)
    setTimeout(() => due() && this.#sendPending(pending, true), 200).unref()
  }

  #sendActions(channel: Uri): void {
    const isIgnored = (one: Pending): one is Dispatch => one.channel === channel && !('method' in one)
    const again = this.#pending.filter(isIgnored).map((one) => ({ ...one, clientSeq: ++this.#lastClientSeq }))
    this.#pending = [...this.#pending.filter((one) => !isIgnored(one)), ...again]
    for (const one of again) this.#sendPending(one)
  }

  #receive(message: Message): void {
    if (message.method === 'action') this.#onEnvelope(message.params as Envelope)
    if (message.method === 'x-atrium/diskFull') this.toldFull++
    if (message.method === 'root/sessionRemoved')
      this.#dropSession((message.params as { session: Uri }).session)
  }

  #onEnvelope(envelope: Envelope): void {
    this.lastSeen = Math.max(this.lastSeen, envelope.serverSeq)
    if (envelope.origin?.clientId !== this.id) return
    const { clientSeq } = envelope.origin
    this.answers.push(envelope)
    this.#pending = this.#pending.filter((one) => 'method' in one || one.clientSeq !== clientSeq)
  }

  #onSnapshots(snapshots: readonly Snapshot[]): void {
    for (const { resource, state, fromSeq } of snapshots) {
      this.subscriptions.add(resource)
      this.shown.set(resource, state)
      this.lastSeen = Math.max(this.lastSeen, fromSeq)
    }
  }

  /** Drops a session and its chat. */
  #dropSession(session: Uri): void {
    for (const channel of [session, this.turnsOf(session)]) this.#drop(channel)
  }

  /** Drops a channel that is gone, with its pending actions: the host ignored them. */
  #drop(channel: Uri): void {
    this.left(channel)
    if (!this.gone.has(channel)) this.link.record('gone', channel)
    this.gone.add(channel)
    this.#pending = this.#pending.filter((one) => one.channel !== channel || 'method' in one)
  }
}

/** The codes by which a host says that a channel, or a session, does not exist. */
const missingCodes: ReadonlySet<number> = new Set([errorCodes.NotFound, errorCodes.SessionNotFound])

interface Asked {
  readonly channel?: Uri
  readonly [key: string]: unknown
}
