import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { Peer } from '@atrium/protocol/rpc/peer'
import { Channel } from './channel.ts'
import type { ChannelOptions } from './channel.ts'
import type { Check } from '../shared/check.ts'
import { Resync } from './resync.ts'
import { OutcomeQuery, isAbsent, probe } from './outcome-query.ts'
import { Listeners } from '../shared/listeners.ts'
import { messageOf } from '../shared/errors.ts'
import type { ClientProblem } from '../shared/errors.ts'
import type { PendingAction } from './replica.ts'
import { sendable } from './sendable.ts'
import { PendingActions, outcomeOf } from './pending-actions.ts'
import type { Outcome } from './pending-actions.ts'
import type { World } from '../shared/world.ts'

/** The parts of the client that subscriptions use. */
interface SubscriptionsContext {
  readonly clientId: string
  readonly check: Check
  readonly world: World
  readonly problem: (problem: ClientProblem) => void
  readonly received: (envelope: Envelope) => void
  /** The peer, while the link is live. */
  readonly live: () => Peer | undefined
}

/** Maximum number of pending actions. No user makes this many while the link is down. */
const maxPending = 10_000

/** The subscribed channels of a client, and its pending actions. */
export class Subscriptions {
  readonly #context: SubscriptionsContext
  readonly #channels = new Map<Uri, Channel>()
  readonly #pending = new PendingActions()
  readonly #resync: Resync
  readonly #outcomeQuery: OutcomeQuery
  /** The highest sequence number received. */
  lastSeen = 0
  #closed: Error | undefined

  constructor(context: SubscriptionsContext) {
    this.#context = context
    this.#outcomeQuery = new OutcomeQuery(context.world, this.#pending, (channel) =>
      this.#queryChannel(channel),
    )
    this.#resync = new Resync(context.world, (channel) => {
      const peer = context.live()
      if (peer && this.#channels.get(channel.uri) === channel) this.fetch(channel, peer)
    })
  }

  get all(): readonly Channel[] {
    return [...this.#channels.values()]
  }

  get pending(): readonly PendingAction[] {
    return this.#pending.all
  }

  subscribe(kind: KindName, uri: Uri, options: ChannelOptions): Channel {
    const known = this.#channels.get(uri)
    if (known && known.kind !== kind)
      throw new TypeError(`${uri} is subscribed as a ${known.kind}, not a ${kind}`)
    // Handles on a channel that is gone keep it. A new handle gets a new channel.
    if (known && known.status !== 'gone') return known
    const changes = new Listeners<[]>((error) =>
      this.#context.problem({ kind: 'app', detail: messageOf(error) }),
    )
    const channel = new Channel(uri, kind, options, changes)
    this.#channels.set(uri, channel)
    const peer = this.#context.live()
    if (this.#closed) channel.gone(this.#closed)
    else if (peer) this.fetch(channel, peer)
    return channel
  }

  unsubscribe(channel: Channel): void {
    if (--channel.handleCount > 0 || this.#channels.get(channel.uri) !== channel) return
    this.#channels.delete(channel.uri)
    this.#context.live()?.notify('unsubscribe', { channel: channel.uri })
  }

  dispatch(uri: Uri, given: Action): Promise<Outcome> {
    const channel = this.#channels.get(uri)
    let action: Action
    try {
      action = sendable(this.#context.check, uri, given, channel?.kind)
    } catch (error) {
      return refused(messageOf(error))
    }
    if (channel?.status === 'gone') return refused(`${uri} cannot be used: ${channel.problem?.message}`)
    if (this.#pending.size >= maxPending)
      return refused(`${maxPending} actions are pending already: wait for an outcome`)
    const { pending, outcome } = this.#pending.add(uri, action)
    channel?.write(pending)
    const peer = this.#context.live()
    if (peer) this.#send(pending, peer)
    channel?.changes.notify()
    return outcome
  }

  /** Subscribes to a channel. Its actions are held until the snapshot arrives. */
  fetch(channel: Channel, peer: Peer): void {
    if (channel.requested) return
    channel.requested = true
    channel.hold()
    const { uri, options } = channel
    const taken = (value: unknown) => {
      const { snapshot } = this.#context.check.result('subscribe', value)
      if (!snapshot) throw new Error(`${uri} has no state to subscribe to`)
      this.take(channel, snapshot)
    }
    peer.request('subscribe', { channel: uri, ...options }, taken).catch((error: unknown) => {
      if (!(error instanceof LinkClosed)) this.gone(channel, error)
    })
  }

  /** Applies a snapshot. */
  take(channel: Channel, snapshot: Snapshot): void {
    if (this.#channels.get(channel.uri) !== channel) return
    const { check, clientId } = this.#context
    const { state, fromSeq } = check.snapshot(channel.kind, snapshot)
    this.#seen(fromSeq)
    const problem = channel.take(
      { resource: channel.uri, state, fromSeq },
      this.#pending.of(channel.uri),
      clientId,
    )
    this.#seen(channel.replica?.seq ?? fromSeq)
    if (problem) this.#heal(channel, problem)
    channel.changes.notify()
  }

  /** Marks a channel as gone, and ends its pending actions as lost. */
  gone(channel: Channel | undefined, error: unknown): void {
    if (!channel || this.#channels.get(channel.uri) !== channel || channel.status === 'gone') return
    const problem = error instanceof Error ? error : new Error(messageOf(error))
    channel.gone(problem)
    for (const pending of this.#pending.of(channel.uri))
      this.#lose(pending, `${channel.uri} cannot be used any more: ${problem.message}`)
    channel.changes.notify()
  }

  /** Applies an action notification of the host. */
  receive(value: unknown): void {
    let envelope: Envelope
    let channel: Channel | undefined
    try {
      envelope = this.#context.check.envelope(value)
      channel = this.#channels.get(envelope.channel)
      // The shape of a rejected action does not matter, because the action is not reduced.
      if (channel && envelope.rejectionReason === undefined)
        this.#context.check.action(channel.kind, envelope.action)
    } catch (error) {
      return this.#unreadable(value, messageOf(error))
    }
    const other = this.#apply(envelope, channel)
    channel?.changes.notify()
    other?.changes.notify()
  }

  get(uri: Uri): Channel | undefined {
    return this.#channels.get(uri)
  }

  /** Applies the actions of a replay, and then those that were held while the replay was under way. */
  replay(channels: readonly Channel[], envelopes: readonly Envelope[]): void {
    const resumed = channels.map((channel) => ({ channel, held: channel.resumed() }))
    for (const envelope of envelopes) this.#apply(envelope, this.#channels.get(envelope.channel))
    for (const { channel, held } of resumed)
      for (const envelope of held) {
        this.#seen(envelope.serverSeq)
        const problem = channel.receive(envelope, this.#context.clientId)
        if (problem) this.#heal(channel, problem)
      }
  }

  /** Starts over with the host's snapshots. The state of any other channel is invalid until it is fetched. */
  reset(lastSeen: number, snapshots: readonly Snapshot[]): void {
    this.lastSeen = lastSeen
    for (const channel of this.all) channel.invalidate()
    for (const snapshot of snapshots) {
      const channel = this.#channels.get(snapshot.resource)
      try {
        if (channel) this.take(channel, snapshot)
      } catch (error) {
        if (channel) this.gone(channel, error)
      }
    }
  }

  /**
   * Call when a new link is open, with the channels requested in its handshake. Unsubscribes from channels released meanwhile,
   * fetches those that lack a state, and sends the pending actions.
   */
  opened(peer: Peer, resends: boolean, requested: readonly Channel[]): void {
    for (const channel of requested) {
      const now = this.#channels.get(channel.uri)
      if (now !== channel && now?.status !== 'open') peer.notify('unsubscribe', { channel: channel.uri })
    }
    for (const channel of this.all)
      if (channel.status !== 'open' && channel.status !== 'gone') this.fetch(channel, peer)
    if (!resends)
      for (const pending of this.#pending.sent)
        this.#lose(
          pending,
          'the link was lost before the response, and the host does not recognize a resent action',
        )
    for (const pending of this.#pending.all) this.#send(pending, peer)
  }

  /** Notifies the listeners of all channels that the link has changed. Call once the link is usable: listeners may dispatch. */
  notifyAll(): void {
    for (const channel of this.all) channel.changes.notify()
  }

  cut(): void {
    for (const channel of this.all) channel.cut()
  }

  close(reason: string): void {
    this.#closed = new Error(reason)
    for (const channel of this.all) this.gone(channel, this.#closed)
    for (const pending of this.#pending.all) this.#lose(pending, reason)
    this.#outcomeQuery.end()
  }

  /** Returns the channel in which the action was pending, if the host has applied it to another: a chat's title to its session. */
  #apply(envelope: Envelope, channel: Channel | undefined): Channel | undefined {
    const { serverSeq, origin, rejectionReason } = envelope
    // If the link is lost, held actions are lost too. They do not count as seen, so that the host sends them again.
    if (!channel?.isHolding) this.#seen(serverSeq)
    const own = origin?.clientId === this.#context.clientId ? origin.clientSeq : undefined
    const ended =
      own === undefined ? undefined : this.#pending.end(own, outcomeOf(serverSeq, rejectionReason))
    const other = ended && ended.channel !== envelope.channel ? this.#channels.get(ended.channel) : undefined
    if (ended) other?.withdraw(ended.clientSeq)
    const problem = channel?.receive(envelope, this.#context.clientId)
    if (problem && channel) this.#heal(channel, problem)
    this.#context.received(envelope)
    return other
  }

  /** Invalidates a channel and requests a new snapshot. */
  #heal(channel: Channel, problem: ClientProblem): void {
    this.#context.problem(problem)
    channel.invalidate()
    this.#resync.heal(channel)
  }

  /** Heals the channel that an unreadable message names, or all channels if it names none. */
  #unreadable(value: unknown, detail: string): void {
    const uri = typeof value === 'object' && value !== null && 'channel' in value ? value.channel : undefined
    const named = typeof uri === 'string' ? this.#channels.get(uri) : undefined
    const concerned = named ? [named] : typeof uri === 'string' ? [] : this.all
    if (concerned.length === 0) this.#context.problem({ kind: 'malformed', detail })
    for (const channel of concerned) {
      this.#heal(channel, { kind: 'malformed', detail, channel: channel.uri })
      channel.changes.notify()
    }
  }

  #lose({ clientSeq, channel, action }: PendingAction, reason: string): void {
    this.#pending.end(clientSeq, { outcome: 'lost', reason })
    this.#channels.get(channel)?.withdraw(clientSeq)
    this.#context.problem({ kind: 'lost', detail: `${action.type}: ${reason}`, channel })
  }

  #send(pending: PendingAction, peer: Peer): void {
    this.#pending.markSent(pending)
    peer.notify('dispatchAction', pending)
    this.#outcomeQuery.begin()
  }

  /** Asks whether a channel exists, and ends its pending actions as lost if it does not. */
  #queryChannel(uri: Uri): void {
    const peer = this.#context.live()
    const channel = this.#channels.get(uri)
    if (!peer || channel?.requested || channel?.status === 'gone') return
    probe(peer, uri, channel).catch((error: unknown) => {
      if (!isAbsent(error)) return
      this.gone(channel, error)
      for (const pending of this.#pending.of(uri)) this.#lose(pending, `there is no ${uri}`)
    })
    if (!channel) peer.notify('unsubscribe', { channel: uri })
  }

  #seen(seq: number): void {
    this.lastSeen = Math.max(this.lastSeen, seq)
  }
}

function refused(reason: string): Promise<Outcome> {
  return Promise.resolve({ outcome: 'refused', reason })
}
