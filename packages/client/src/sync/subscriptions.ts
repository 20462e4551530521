import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { KindName } from '@atrium/protocol/reducers'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { Peer } from '@atrium/protocol/rpc/peer'
import { Channel } from './channel.ts'
import type { ChannelOptions } from './channel.ts'
import type { Check } from '../shared/check.ts'
import { Resync } from './resync.ts'
import { OutcomeQuery } from './outcome-query.ts'
import { Listeners } from '../shared/listeners.ts'
import { messageOf } from '../shared/errors.ts'
import type { ClientProblem } from '../shared/errors.ts'
import type { PendingAction } from './replica.ts'
import { sendable } from './sendable.ts'
import { PendingActions, outcomeOf } from './pending-actions.ts'
import type { Outcome } from './pending-actions.ts'
import type { World } from '../shared/world.ts'

interface SubscriptionsContext {
  readonly clientId: string
  readonly check: Check
  readonly world: World
  readonly problem: (problem: ClientProblem) => void
  readonly received: (envelope: Envelope) => void
  /** Whom to talk to, if anybody. */
  readonly live: () => Peer | undefined
}

/** More than anybody types while a link is down. */
const maxPending = 10_000

/** The channels that a client follows, and what it has wished in them. */
export class Subscriptions {
  readonly #around: SubscriptionsContext
  readonly #channels = new Map<Uri, Channel>()
  readonly #pending = new PendingActions()
  readonly #resync: Resync
  readonly #outcomeQuery: OutcomeQuery
  /** The highest number that was seen. */
  lastSeen = 0
  #closed: Error | undefined

  constructor(around: SubscriptionsContext) {
    this.#around = around
    this.#outcomeQuery = new OutcomeQuery(around.world, this.#pending, (channel) => this.#inquire(channel))
    this.#resync = new Resync(around.world, (channel) => {
      const peer = around.live()
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
      throw new TypeError(`${uri} is followed as a ${known.kind}, not a ${kind}`)
    // What is gone stays so for whoever holds it; who comes now asks anew.
    if (known && known.status !== 'gone') return known
    const changes = new Listeners<[]>((error) =>
      this.#around.problem({ kind: 'app', detail: messageOf(error) }),
    )
    const channel = new Channel(uri, kind, options, changes)
    this.#channels.set(uri, channel)
    const peer = this.#around.live()
    if (this.#closed) channel.gone(this.#closed)
    else if (peer) this.fetch(channel, peer)
    return channel
  }

  unsubscribe(channel: Channel): void {
    if (--channel.handleCount > 0 || this.#channels.get(channel.uri) !== channel) return
    this.#channels.delete(channel.uri)
    this.#around.live()?.notify('unsubscribe', { channel: channel.uri })
  }

  dispatch(uri: Uri, given: Action): Promise<Outcome> {
    const channel = this.#channels.get(uri)
    let action: Action
    try {
      action = sendable(this.#around.check, uri, given, channel?.kind)
    } catch (error) {
      return refused(messageOf(error))
    }
    if (channel?.status === 'gone') return refused(`there is no ${uri}: ${channel.problem?.message}`)
    if (this.#pending.size >= maxPending) return refused(`${maxPending} wishes wait for the host`)
    const { wish, outcome } = this.#pending.add(uri, action)
    channel?.write(wish)
    const peer = this.#around.live()
    if (peer) this.#send(wish, peer)
    channel?.changes.notify()
    return outcome
  }

  /** Asks for a channel as it is now; until the answer is there, what comes of it waits. */
  fetch(channel: Channel, peer: Peer): void {
    if (channel.requested) return
    channel.requested = true
    channel.hold()
    const { uri, options } = channel
    const taken = (value: unknown) => {
      const { snapshot } = this.#around.check.result('subscribe', value)
      if (!snapshot) throw new Error(`${uri} has no state that could be followed`)
      this.take(channel, snapshot)
    }
    peer.request('subscribe', { channel: uri, ...options }, taken).catch((error: unknown) => {
      if (!(error instanceof LinkClosed)) this.gone(channel, error)
    })
  }

  /** A state handed over by the host. */
  take(channel: Channel, snapshot: Snapshot): void {
    if (this.#channels.get(channel.uri) !== channel) return
    const { check, clientId } = this.#around
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

  gone(channel: Channel | undefined, error: unknown): void {
    if (!channel || this.#channels.get(channel.uri) !== channel || channel.status === 'gone') return
    const problem = error instanceof Error ? error : new Error(messageOf(error))
    channel.gone(problem)
    for (const wish of this.#pending.of(channel.uri))
      this.#lose(wish, `${channel.uri} is gone: ${problem.message}`)
    channel.changes.notify()
  }

  /** What the host says has happened. */
  receive(value: unknown): void {
    let envelope: Envelope
    let channel: Channel | undefined
    try {
      envelope = this.#around.check.envelope(value)
      channel = this.#channels.get(envelope.channel)
      // What is refused is nobody's but one's own, and is not reduced.
      if (channel && envelope.rejectionReason === undefined)
        this.#around.check.action(channel.kind, envelope.action)
    } catch (error) {
      return this.#puzzled(value, messageOf(error))
    }
    this.#apply(envelope, channel)
    channel?.changes.notify()
  }

  get(uri: Uri): Channel | undefined {
    return this.#channels.get(uri)
  }

  /** Everything that a host says happened while nobody listened; what came before it said so is behind that. */
  replay(channels: readonly Channel[], envelopes: readonly Envelope[]): void {
    const early = channels.map((channel) => ({ channel, held: channel.resumed() }))
    for (const envelope of envelopes) this.#apply(envelope, this.#channels.get(envelope.channel))
    for (const { channel, held } of early)
      for (const envelope of held) {
        this.#seen(envelope.serverSeq)
        const problem = channel.receive(envelope, this.#around.clientId)
        if (problem) this.#heal(channel, problem)
      }
  }

  /** Everything that the host will hand over by itself, and up to which number: what is not in it is not true any more. */
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
   * A new link is open, with what was asked for in its greeting: what was released meanwhile is left, what is not there is
   * asked for, and what was wished goes over it.
   */
  opened(peer: Peer, resends: boolean, asked: readonly Channel[]): void {
    for (const channel of asked) {
      const now = this.#channels.get(channel.uri)
      if (now !== channel && now?.status !== 'open') peer.notify('unsubscribe', { channel: channel.uri })
    }
    for (const channel of this.all)
      if (channel.status !== 'open' && channel.status !== 'gone') this.fetch(channel, peer)
    if (!resends)
      for (const wish of this.#pending.sent)
        this.#lose(wish, 'the link was lost before this was answered, and the host does not take it twice')
    for (const wish of this.#pending.all) this.#send(wish, peer)
  }

  /** The link is another, or there is none: so may be what everybody sees. Not before it is in use, or nothing could be said. */
  notifyAll(): void {
    for (const channel of this.all) channel.changes.notify()
  }

  cut(): void {
    for (const channel of this.all) channel.cut()
  }

  close(reason: string): void {
    this.#closed = new Error(reason)
    for (const channel of this.all) this.gone(channel, this.#closed)
    for (const wish of this.#pending.all) this.#lose(wish, reason)
    this.#outcomeQuery.end()
  }

  #apply(envelope: Envelope, channel: Channel | undefined): void {
    const { serverSeq, origin, rejectionReason } = envelope
    // What only waits goes with its link: it must come again.
    if (!channel?.isHolding) this.#seen(serverSeq)
    if (origin?.clientId === this.#around.clientId)
      this.#pending.end(origin.clientSeq, outcomeOf(serverSeq, rejectionReason))
    const problem = channel?.receive(envelope, this.#around.clientId)
    if (problem && channel) this.#heal(channel, problem)
    this.#around.received(envelope)
  }

  /** It is asked for again, and until then it is not what it should be. */
  #heal(channel: Channel, problem: ClientProblem): void {
    this.#around.problem(problem)
    channel.invalidate()
    this.#resync.heal(channel)
  }

  /** Something was said that cannot be read: it concerns the channel it names, or any. */
  #puzzled(value: unknown, detail: string): void {
    const uri = (value as { readonly channel?: unknown } | undefined)?.channel
    const named = typeof uri === 'string' ? this.#channels.get(uri) : undefined
    const concerned = named ? [named] : typeof uri === 'string' ? [] : this.all
    if (concerned.length === 0) this.#around.problem({ kind: 'malformed', detail })
    for (const channel of concerned) {
      this.#heal(channel, { kind: 'malformed', detail, channel: channel.uri })
      channel.changes.notify()
    }
  }

  #lose(wish: PendingAction, reason: string): void {
    this.#pending.end(wish.clientSeq, { outcome: 'lost', reason })
    this.#channels.get(wish.channel)?.withdraw(wish.clientSeq)
    this.#around.problem({ kind: 'lost', detail: `${wish.action.type}: ${reason}`, channel: wish.channel })
  }

  #send(wish: PendingAction, peer: Peer): void {
    this.#pending.markSent(wish)
    peer.notify('dispatchAction', wish)
    this.#outcomeQuery.begin()
  }

  /** Whether a channel is there at all. What it looks like is known, or of no interest to who does not follow it. */
  #inquire(uri: Uri): void {
    const peer = this.#around.live()
    const channel = this.#channels.get(uri)
    if (!peer || channel?.requested || channel?.status === 'gone') return
    probe(peer, uri, channel).catch((error: unknown) => {
      if (!isAbsent(error)) return
      this.gone(channel, error)
      for (const wish of this.#pending.of(uri)) this.#lose(wish, `there is no ${uri}`)
    })
    if (!channel) peer.notify('unsubscribe', { channel: uri })
  }

  #seen(seq: number): void {
    this.lastSeen = Math.max(this.lastSeen, seq)
  }
}

/**
 * Any answer is one. Of a chat that is followed the host knows which turns it was handed, and goes by that: so nothing is handed over here,
 * but a page asked for that no host has.
 */
function probe(peer: Peer, channel: Uri, known: Channel | undefined): Promise<unknown> {
  if (known?.kind === 'chat') return peer.request('fetchTurns', { channel, cursor: '' })
  return peer.request('subscribe', { channel, ...(known?.options ?? { view: { turns: 0 } }) })
}

function isAbsent(error: unknown): boolean {
  if (!(error instanceof AhpError)) return false
  return error.code === errorCodes.NotFound || error.code === errorCodes.SessionNotFound
}

function refused(reason: string): Promise<Outcome> {
  return Promise.resolve({ outcome: 'refused', reason })
}
