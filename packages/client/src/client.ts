import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { AnyParams, AnyResult, NotificationMethod, NotificationParams } from '@atrium/protocol/commands'
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
  /** Opens a transport to the host. The client calls it for its first link, and again after every lost link. */
  readonly open: () => Transport | Promise<Transport>
  readonly world: World
  readonly check: Check
  readonly hostRequests?: HostRequests
  /** The longest delay before an attempt to connect again; 30 s if absent. */
  readonly longestRetryMs?: number
}

/** A client of one host: typed commands, replicated channels, and a link that reconnects by itself. */
export class Client {
  readonly clientId: string
  readonly #options: ClientOptions
  readonly #link: Reconnect
  readonly #subscriptions: Subscriptions
  readonly #links: Listeners<[LinkStatus]>
  readonly #problems = new Listeners<[ClientProblem]>(() => {})
  readonly #actions: Listeners<[Envelope]>
  readonly #notifications = new Map<string, Listeners<[never]>>()
  readonly #waiting = new Set<() => void>()
  #host: HostInfo | undefined
  #diskFull: string | undefined

  constructor(options: ClientOptions) {
    this.#options = options
    this.clientId = options.clientId
    const { world, check, clientId } = options
    const problem = (found: ClientProblem) => this.#problems.notify(found)
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
      longestRetryMs: options.longestRetryMs,
      handshake: (peer, opened) => this.#handshake(peer, opened),
      receiver: {
        request: (method, params) => this.#request(method, params),
        notification: (method, params) => this.#notification(method, params),
      },
      changed: () => this.#changed(),
      report: (error) => problem({ kind: 'stray', detail: messageOf(error) }),
      cut: () => {
        this.#diskFull = undefined
        this.#subscriptions.cut()
      },
    })
  }

  /** Opens the link. If the client is waiting before its next attempt, the attempt starts at once. */
  connect(): this {
    this.#link.retry()
    return this
  }

  /**
   * Replaces the link by a new one at once. Call it when the app runs again after a pause, for example when a hidden
   * page is shown. The old link may be dead by then, and the client would notice only after a time limit.
   */
  wake(): this {
    this.#link.wake()
    return this
  }

  get link(): LinkStatus {
    return this.#link.status
  }

  /** The host's description of itself; undefined before the first handshake. */
  get host(): HostInfo | undefined {
    return this.#host
  }

  /**
   * The host's message about its full disk, while pending actions wait for space. Undefined if the disk is not full.
   */
  get diskFull(): string | undefined {
    return this.#diskFull
  }

  /** The pending actions of all channels. An action is pending from its dispatch until its outcome is known. */
  get pending(): readonly PendingAction[] {
    return this.#subscriptions.pending
  }

  /**
   * Sends a request once the link is live. Rejects with the host's error, or when the link is lost before the response. The
   * result of a method that AHP does not have is `unknown`, and is not checked.
   */
  async ask<M extends string>(method: M, params: AnyParams<M>): Promise<AnyResult<M>> {
    // Over a live link the request is sent in the same tick, so that no later message overtakes it.
    const peer = this.#link.live ?? (await this.live())
    return this.#options.check.result(method, await peer.request(method, params))
  }

  /** Resolves when the link is live. Rejects when the client is closed. */
  async live(): Promise<Peer> {
    for (;;) {
      const peer = this.#link.live
      if (peer) return peer
      if (this.link.state === 'closed') throw new Error(`there is no link: ${this.link.reason}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /**
   * Returns a handle on a channel. A further handle shares the channel of the first: the state is available at once,
   * and the options of the first handle apply.
   */
  subscribe<K extends KindName>(kind: K, uri: Uri, options: ChannelOptions = {}): Subscription<K> {
    const channel = this.#subscriptions.subscribe(kind, uri, options)
    return new Subscription(this, kind, channel)
  }

  /** Dispatches without a subscription, for example to answer a question in a chat. */
  dispatch(channel: Uri, action: Action): Promise<Outcome> {
    if (this.link.state === 'closed')
      return Promise.resolve({ outcome: 'lost', reason: `there is no link: ${this.link.reason}` })
    return this.#subscriptions.dispatch(channel, action)
  }

  release(channel: Channel): void {
    this.#subscriptions.unsubscribe(channel)
  }

  on<M extends NotificationMethod>(method: M, listener: (params: NotificationParams<M>) => void): () => void {
    let listeners = this.#notifications.get(method)
    if (!listeners) {
      listeners = new Listeners((error) => this.#problems.notify({ kind: 'app', detail: messageOf(error) }))
      this.#notifications.set(method, listeners)
    }
    // Each set of listeners belongs to one method and gets only the params of that method: hence the cast.
    return listeners.add(listener as (params: never) => void)
  }

  /**
   * Listens to every action in the order of arrival, including rejected actions and those replayed after a lost link.
   * If the host cannot replay, it sends snapshots, and the actions that the client has missed are not reported.
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

  /** Closes the client for good. Pending actions end with the outcome `lost`. */
  close(reason = 'this client was closed'): void {
    this.#link.close(reason)
  }

  async #handshake(peer: Peer, opened: () => void): Promise<void> {
    const { check } = this.#options
    const problem = (found: ClientProblem) => this.#problems.notify(found)
    const context = { peer, hello: this.#options, subscriptions: this.#subscriptions, check, problem }
    const open = (requested: readonly Channel[]) => {
      // The pending actions are sent before listeners are notified. A listener may dispatch a newer action, which
      // must be sent after them.
      this.#subscriptions.opened(peer, resendsOf(this.#host), requested)
      opened()
    }
    try {
      if (this.#host) return void (await reconnect(context, open))
    } catch (error) {
      // The host does not know this client any more, or does not support `reconnect`: initialize instead.
      if (!(error instanceof AhpError)) throw error
    }
    await initialize(context, (host, requested) => {
      this.#host = host
      open(requested)
    })
  }

  #request(method: string, params: unknown): unknown {
    const { hostRequests = {}, check } = this.#options
    const report = (error: unknown) => this.#problems.notify({ kind: 'app', detail: messageOf(error) })
    return answer({ hostRequests, check, report }, method, params)
  }

  #notification(method: string, params: unknown): void {
    if (method === 'action') return this.#subscriptions.receive(params)
    if (method === 'x-atrium/diskFull') return this.#spaceChanged(params)
    const listeners = this.#notifications.get(method)
    if (!listeners) return
    try {
      // Only `on` adds listeners, and it accepts only a `NotificationMethod`: hence the cast.
      listeners.notify(this.#options.check.note(method as NotificationMethod, params ?? {}) as never)
    } catch (error) {
      this.#problems.notify({ kind: 'malformed', detail: messageOf(error) })
    }
  }

  /**
   * Handles the notification of an Atrium host that its disk is full, or no longer full. AHP does not define it, so
   * its shape is checked here.
   */
  #spaceChanged(params: unknown): void {
    const { full, message } = (params ?? {}) as { readonly full?: unknown; readonly message?: unknown }
    const text = typeof message === 'string' ? message : 'The disk of the host is full.'
    this.#diskFull = full === true ? text : undefined
    if (this.#diskFull !== undefined) this.#problems.notify({ kind: 'full', detail: this.#diskFull })
    this.#subscriptions.notifyAll()
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

/**
 * Returns whether the host recognizes an action that is sent twice, by its `clientSeq`. An Atrium host says so in
 * `_meta`.
 */
function resendsOf(host: HostInfo | undefined): boolean {
  const own = host?._meta?.['x-atrium']
  return typeof own === 'object' && own !== null && 'resends' in own && own.resends === true
}
