import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { WebSocket } from 'ws'
import { Recorder } from './history.ts'

/** Where a host listens. */
export interface Address {
  readonly url: string
  readonly token: string
  /** What the host calls itself, where the way to it leads through something else. */
  readonly host?: string
}

/** The link ended while something was waited for. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
}

/** The host said no. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: number

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message)
    this.code = code
  }
}

/** Sent, and not known to have come to an end: it is sent again on the next link. */
type Pending =
  | { readonly channel: Uri; readonly clientSeq: number; readonly action: Action }
  | {
      readonly channel: Uri
      readonly method: 'createSession' | 'disposeSession'
      readonly made?: () => void
    }

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** An honest client that writes down every frame. It believes nothing: the judge does, later. */
export class Client {
  readonly id: string
  readonly following = new Set<Uri>()
  /** Channels that it knows to be no more. */
  readonly gone = new Set<Uri>()
  readonly shown = new Map<Uri, unknown>()
  /** The last turn that it began, or wished to, in each chat. */
  readonly turns = new Map<Uri, string>()
  /** Answers to what it dispatched, newest last. */
  readonly ends: Envelope[] = []
  lastSeen = 0
  /** How often the other side ended its link. */
  lost = 0
  readonly #recorder: Recorder
  readonly #waiting = new Set<() => void>()
  readonly #answers = new Map<number, Message>()
  #pending: readonly Pending[] = []
  #socket: WebSocket | undefined
  #link = 0
  #asked = 0
  #dispatched = 0
  #known = false

  constructor(folder: string, id: string) {
    this.id = id
    this.#recorder = new Recorder(folder, id)
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  get pending(): number {
    return this.#pending.length
  }

  /** For a sentence about what never came. */
  get waits(): string {
    return `${this.id} (${this.open ? 'open' : 'shut'}): ${JSON.stringify(this.#pending)}`
  }

  /** Opens a link: as a new client the first time, else where it left off; then sends again what never ended. */
  async come({ url, token, host }: Address): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, ...(host !== undefined && { host }) }
    const socket = new WebSocket(url, { headers, handshakeTimeout: 20_000 })
    const link = ++this.#link
    this.#socket = socket
    this.#answers.clear()
    socket.on('message', (data: Buffer) => this.#heard(socket, link, data.toString()))
    socket.on('open', () => {
      this.#recorder.write(link, 'open')
      this.#look()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#recorder.write(link, 'shut')
      if (socket === this.#socket) this.lost++
      this.#look()
    })
    await this.until(() => socket.readyState !== WebSocket.CONNECTING)
    await (this.#known ? this.#return() : this.#enter())
    for (const pending of this.#pending) this.#say(pending)
  }

  /** Goes without a word. */
  cut(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.terminate()
    this.#look()
  }

  dispatch(channel: Uri, action: Action): void {
    this.#begin({ channel, clientSeq: ++this.#dispatched, action })
  }

  /** `made` is called when the session is surely there. */
  create(channel: Uri, made: () => void = () => {}): void {
    this.#begin({ channel, method: 'createSession', made })
  }

  dispose(channel: Uri): void {
    this.#begin({ channel, method: 'disposeSession' })
  }

  /** Follows a channel if there is one. */
  async subscribe(channel: Uri): Promise<void> {
    try {
      const { snapshot } = (await this.ask('subscribe', { channel })) as { snapshot: Snapshot }
      this.#handed([snapshot])
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.code === errorCodes.NotFound) this.#giveUp(channel)
      else if (error.code !== errorCodes.InternalError) throw error
    }
  }

  unsubscribe(channel: Uri): void {
    this.following.delete(channel)
    this.#send({ method: 'unsubscribe', params: { channel } })
  }

  /** Resolves when everything it ever sent has come to an end. */
  async settle(): Promise<void> {
    const channels = new Set(this.#pending.map(({ channel }) => channel))
    channels.delete(rootUri)
    // Behind everything that was sent: where there is no channel now, what was sent to it was ignored.
    for (const channel of channels) await this.subscribe(channel)
    await this.until(() => this.#pending.length === 0)
  }

  async ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#asked
    this.#send({ id, method, params: { channel: rootUri, ...params } })
    await this.until(() => this.#answers.has(id))
    const { result, error } = this.#answers.get(id) ?? {}
    if (error) throw new Refused(error)
    return result
  }

  /** Looks again at every frame. Throws when the link ends first. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (!this.#socket || this.#socket.readyState > WebSocket.OPEN)
        throw new LinkLost(`${this.id} lost its link`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  flush(): void {
    this.#recorder.flush()
  }

  async #enter(): Promise<void> {
    const params = {
      protocolVersions: ['1.0.0'],
      clientId: this.id,
      initialSubscriptions: [rootUri, ...this.following],
    }
    const { serverSeq, snapshots } = (await this.ask('initialize', params)) as {
      serverSeq: number
      snapshots: readonly Snapshot[]
    }
    this.#known = true
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    this.#handed(snapshots)
  }

  async #return(): Promise<void> {
    const subscriptions = [...this.following]
    const params = { clientId: this.id, lastSeenServerSeq: this.lastSeen, subscriptions }
    try {
      const answer = (await this.ask('reconnect', params)) as {
        readonly actions?: readonly Envelope[]
        readonly missing?: readonly Uri[]
        readonly snapshots?: readonly Snapshot[]
      }
      for (const envelope of answer.actions ?? []) this.#told(envelope)
      const there = answer.snapshots?.map(({ resource }) => resource)
      const missing = answer.missing ?? subscriptions.filter((uri) => !there?.includes(uri))
      for (const uri of missing) this.following.delete(uri)
      this.#handed(answer.snapshots ?? [])
    } catch (error) {
      // The host was killed before it had kept our name.
      if (!(error instanceof Refused) || error.code !== errorCodes.NotFound) throw error
      await this.#enter()
    }
  }

  #begin(pending: Pending): void {
    this.#pending = [...this.#pending, pending]
    this.#say(pending)
  }

  #say(pending: Pending): void {
    if (!('method' in pending)) return this.#send({ method: 'dispatchAction', params: pending })
    const { method, channel } = pending
    const done = (error?: unknown): void => {
      if (error !== undefined && !(error instanceof Refused)) return
      // A disk without space: it stays pending.
      if (error instanceof Refused && error.code === errorCodes.PermissionDenied) return
      this.#pending = this.#pending.filter((other) => other !== pending)
      pending.made?.()
      if (method === 'disposeSession') this.#giveUpAll(channel)
      this.#look()
    }
    this.ask(method, { channel }).then(() => done(), done)
  }

  #heard(socket: WebSocket, link: number, text: string): void {
    // Whoever has gone listens no more.
    if (socket !== this.#socket) return
    this.#recorder.write(link, 'in', text)
    const message = parsed(text)
    // The judge will say what it was.
    if (!message) return socket.terminate()
    if (message.method === 'action') this.#told(message.params as Envelope)
    if (message.method === 'root/sessionRemoved')
      this.#giveUpAll((message.params as { session: Uri }).session)
    if (message.id !== undefined) this.#answers.set(message.id, message)
    this.#look()
  }

  #told(envelope: Envelope): void {
    this.lastSeen = Math.max(this.lastSeen, envelope.serverSeq)
    if (envelope.origin?.clientId !== this.id) return
    const { clientSeq } = envelope.origin
    this.ends.push(envelope)
    this.#pending = this.#pending.filter((one) => 'method' in one || one.clientSeq !== clientSeq)
  }

  #handed(snapshots: readonly Snapshot[]): void {
    for (const { resource, state, fromSeq } of snapshots) {
      this.following.add(resource)
      this.shown.set(resource, state)
      this.lastSeen = Math.max(this.lastSeen, fromSeq)
    }
  }

  /** Its chat goes with a session. */
  #giveUpAll(session: Uri): void {
    for (const channel of [session, defaultChatUri(session)]) this.#giveUp(channel)
  }

  /** What was sent to a channel that is no more has come to nothing. */
  #giveUp(channel: Uri): void {
    this.following.delete(channel)
    if (!this.gone.has(channel)) this.#recorder.write(this.#link, 'gone', channel)
    this.gone.add(channel)
    this.#pending = this.#pending.filter((one) => one.channel !== channel || 'method' in one)
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    if (!this.open) return
    this.#recorder.write(this.#link, 'out', text)
    this.#socket?.send(text)
  }

  #look(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}

function parsed(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message
  } catch {
    return undefined
  }
}
