import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type {
  Method,
  NotificationMethod,
  NotificationParams,
  Params,
  Result,
} from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { KindName } from '@atrium/protocol/reducers'
import type { Peer } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Channel, ChannelOptions } from './sync/channel.ts'
import type { Check } from './shared/check.ts'
import { Subscriptions } from './sync/subscriptions.ts'
import { initialize, reconnect } from './link/handshake.ts'
import type { ClientHello, HostInfo } from './link/handshake.ts'
import { Listeners } from './shared/listeners.ts'
import { answer } from './link/host-requests.ts'
import type { HostRequests } from './link/host-requests.ts'
import { messageOf } from './shared/errors.ts'
import type { ClientProblem } from './shared/errors.ts'
import { Reconnect } from './link/reconnect.ts'
import type { LinkStatus } from './link/reconnect.ts'
import type { PendingAction } from './sync/replica.ts'
import { Subscription } from './sync/handle.ts'
import type { Outcome } from './sync/pending-actions.ts'
import type { World } from './shared/world.ts'

export interface ClientOptions extends ClientHello {
  /** Opens a new pipe to the host; asked again whenever the last one ended. */
  readonly open: () => Transport | Promise<Transport>
  readonly world: World
  readonly check: Check
  readonly hostRequests?: HostRequests
}

/** One host, seen from a client: typed commands, channels that keep themselves true, and a link that comes back. */
export class Client {
  readonly clientId: string
  readonly #options: ClientOptions
  readonly #link: Reconnect
  readonly #subscriptions: Subscriptions
  readonly #links: Listeners<[LinkStatus]>
  readonly #problems = new Listeners<[ClientProblem]>(() => {})
  readonly #actions: Listeners<[Envelope]>
  readonly #notes = new Map<string, Listeners<[never]>>()
  readonly #waiting = new Set<() => void>()
  #host: HostInfo | undefined

  constructor(options: ClientOptions) {
    this.#options = options
    this.clientId = options.clientId
    const { world, check, clientId } = options
    const problem = (said: ClientProblem) => this.#problems.notify(said)
    this.#links = new Listeners((error) => problem({ kind: 'app', detail: messageOf(error) }))
    this.#actions = new Listeners((error) => problem({ kind: 'app', detail: messageOf(error) }))
    const received = (envelope: Envelope) => this.#actions.notify(envelope)
    this.#subscriptions = new Subscriptions({
      clientId,
      check,
      world,
      problem,
      received,
      live: () => this.#link.live,
    })
    this.#link = new Reconnect({
      open: options.open,
      world,
      handshake: (peer, opened) => this.#greet(peer, opened),
      receiver: {
        request: (method, params) => this.#asked(method, params),
        notification: (method, params) => this.#told(method, params),
      },
      changed: () => this.#changed(),
      report: (error) => problem({ kind: 'stray', detail: messageOf(error) }),
      cut: () => this.#subscriptions.cut(),
    })
  }

  /** Begins, or tries again at once instead of when the time has come. */
  connect(): this {
    this.#link.retry()
    return this
  }

  get link(): LinkStatus {
    return this.#link.status
  }

  /** What the host said of itself; nothing before the first handshake. */
  get host(): HostInfo | undefined {
    return this.#host
  }

  /** What was dispatched and not answered, over all channels. */
  get pending(): readonly PendingAction[] {
    return this.#subscriptions.pending
  }

  /** Asks the host, once there is a link. Rejects with what the host answers, or when the link ends before it does. */
  async ask<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    // At once where it can be: nothing that is said later overtakes it.
    const peer = this.#link.live ?? (await this.live())
    return this.#options.check.result(method, await peer.request(method, params))
  }

  /** Resolves when the link is live; rejects when it never will be again. */
  async live(): Promise<Peer> {
    for (;;) {
      const peer = this.#link.live
      if (peer) return peer
      if (this.link.state === 'closed') throw new Error(`there is no link: ${this.link.reason}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** A handle on a channel. Where somebody holds one already, the state is there at once, and their options hold. */
  subscribe<K extends KindName>(kind: K, uri: Uri, options: ChannelOptions = {}): Subscription<K> {
    const channel = this.#subscriptions.subscribe(kind, uri, options)
    return new Subscription(this, kind, channel)
  }

  /** For who does not follow the channel: answering a question in a chat, say. */
  dispatch(channel: Uri, action: Action): Promise<Outcome> {
    if (this.link.state === 'closed')
      return Promise.resolve({ outcome: 'lost', reason: `there is no link: ${this.link.reason}` })
    return this.#subscriptions.dispatch(channel, action)
  }

  release(channel: Channel): void {
    this.#subscriptions.unsubscribe(channel)
  }

  on<M extends NotificationMethod>(method: M, listener: (params: NotificationParams<M>) => void): () => void {
    let listeners = this.#notes.get(method)
    if (!listeners) {
      listeners = new Listeners((error) => this.#problems.notify({ kind: 'app', detail: messageOf(error) }))
      this.#notes.set(method, listeners)
    }
    return listeners.add(listener as (params: never) => void)
  }

  /**
   * Every action in the order it is told, refusals and those missed during a break among them. A break that was longer than
   * the host remembers is mended by a snapshot, and what happened in it is told to nobody.
   */
  onAction(listener: (envelope: Envelope) => void): () => void {
    return this.#actions.add(listener)
  }

  onLink(listener: (status: LinkStatus) => void): () => void {
    return this.#links.add(listener)
  }

  onProblem(listener: (problem: ClientProblem) => void): () => void {
    return this.#problems.add(listener)
  }

  /** For good. What was pending is lost, and its dispatchers learn that. */
  close(reason = 'closed here'): void {
    this.#link.close(reason)
  }

  async #greet(peer: Peer, opened: () => void): Promise<void> {
    const { check } = this.#options
    const open = (asked: readonly Channel[]) => {
      // Before anybody is told, so that nothing newer overtakes what was wished before.
      this.#subscriptions.opened(peer, resendsOf(this.#host), asked)
      opened()
    }
    try {
      if (this.#host) return void (await reconnect(peer, this.#options, this.#subscriptions, check, open))
    } catch (error) {
      // It does not know this client any more, or does not do that at all: then as a new one.
      if (!(error instanceof AhpError)) throw error
    }
    await initialize(peer, this.#options, this.#subscriptions, check, (host, asked) => {
      this.#host = host
      open(asked)
    })
  }

  #asked(method: string, params: unknown): unknown {
    const { hostRequests = {}, check } = this.#options
    return answer(hostRequests, check, method, params, (error) =>
      this.#problems.notify({ kind: 'app', detail: messageOf(error) }),
    )
  }

  #told(method: string, params: unknown): void {
    if (method === 'action') return this.#subscriptions.receive(params)
    const listeners = this.#notes.get(method)
    if (!listeners) return
    try {
      listeners.notify(this.#options.check.note(method as NotificationMethod, params ?? {}) as never)
    } catch (error) {
      this.#problems.notify({ kind: 'malformed', detail: messageOf(error) })
    }
  }

  #changed(): void {
    const { status } = this.#link
    if (status.state === 'closed') this.#subscriptions.close(status.reason ?? 'closed')
    if (status.state !== 'live' && status.reason !== undefined)
      this.#problems.notify({ kind: 'link', detail: status.reason })
    if (status.state === 'live' || status.state === 'closed') {
      for (const resolve of this.#waiting) resolve()
      this.#waiting.clear()
    }
    this.#subscriptions.notifyAll()
    this.#links.notify(status)
  }
}

/** Whether what was sent before may be sent again under its number. */
function resendsOf(host: HostInfo | undefined): boolean {
  const own = host?._meta?.['x-atrium'] as { readonly resends?: unknown } | undefined
  return own?.resends === true
}
