import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { compact } from '@atrium/protocol/update'
import type { Channel } from '../kernel/log/channel.ts'
import type { ClientRecord, SnapshotSent } from '../kernel/clients.ts'
import type { Core } from '../kernel/core.ts'
import type { Entry } from '../kernel/log/entry.ts'
import { sleepWhenIdle } from '../channels/sleep.ts'
import type { Link, View } from '../kernel/link.ts'
import { roleProblem } from '../kernel/role-check.ts'
import type { StatelessChannel } from '../kernel/stateless.ts'

/** A subscription: the requested view and latency, and the part of the channel that the client has. */
export interface Subscription {
  readonly view: View
  readonly latency: number | undefined
  /** The number of a chat's finished turns (its rows) that are older than those the client has. */
  readonly leftOut: number
  /** The sequence number of the state that `leftOut` refers to. */
  readonly at: number
  /** The last sequence number that was assigned when the snapshot was made, committed or not. */
  readonly numbered: number
}

const defaults: Subscription = { view: {}, latency: undefined, leftOut: 0, at: 0, numbered: 0 }

/** The channels that one connection is subscribed to, and the snapshots that its client was sent. */
export class Subscriptions {
  readonly #core: Core
  readonly #listener: Link
  readonly #channels = new Map<Channel, Subscription>()
  readonly #stateless = new Map<Uri, StatelessChannel>()
  #record: ClientRecord | undefined
  /** The highest sequence number that the client may have seen. */
  seen = 0
  /**
   * The sequence numbers of actions that the client dispatched on an older connection and whose echoes come on this
   * connection.
   */
  undelivered: ReadonlySet<number> = new Set()
  /** The sequence number after which the replay began. This connection has sent no action up to this number. */
  replayedFrom = 0

  constructor(core: Core, listener: Link) {
    this.#core = core
    this.#listener = listener
  }

  /** The stored record of the client; undefined before the handshake is done. */
  get record(): ClientRecord | undefined {
    return this.#record
  }

  keep(record: ClientRecord): void {
    this.#record = record
    this.#core.clients.keep(record)
  }

  /** The smallest latency that a subscription requested, in milliseconds; undefined if no subscription requested one. */
  get latency(): number | undefined {
    const asked = [...this.#channels.values()].flatMap(({ latency }) => latency ?? [])
    return asked.length === 0 ? undefined : Math.max(0, Math.min(...asked, this.#core.limits.latencyMs))
  }

  of(channel: Channel): Subscription {
    return this.#channels.get(channel) ?? defaults
  }

  find(uri: Uri): Channel | undefined {
    return [...this.#channels.keys()].find((channel) => channel.uri === uri)
  }

  /** Whether a subscription to this channel can be added. */
  hasRoom(uri: Uri): boolean {
    // Clients do not unsubscribe from removed channels, so these subscriptions are ended here and no longer count.
    for (const channel of this.#removed) this.unsubscribe(channel.uri)
    const { size } = this.#channels
    if (size + this.#stateless.size < this.#core.limits.subscriptions) return true
    return this.#stateless.has(uri) || this.find(uri) !== undefined
  }

  /** Follows a stateless channel, as in `Subscriber`. `client`: what the version of the client knows. */
  follow(uri: Uri, client: { knows(method: string): boolean }): boolean | AhpError {
    const found = this.#core.parts.stateless(uri)
    if (found === undefined || found instanceof AhpError) return found ?? false
    if (found.sends !== undefined && !client.knows(found.sends)) return false
    const problem = roleProblem(this.#listener, `subscribing to ${uri}`, found.role)
    if (problem !== undefined) return AhpError.permissionDenied(problem)
    if (!this.#stateless.has(uri)) found.follow(this.#listener)
    this.#stateless.set(uri, found)
    return true
  }

  add(channel: Channel, subscription: Subscription = this.of(channel)): void {
    channel.listeners.add(this.#listener)
    this.#channels.set(channel, subscription)
    this.#core.parts.subscribed(channel)
  }

  /** Records that a channel's snapshot is about to be sent. */
  sendSnapshot(channel: Channel, requested: Omit<Subscription, 'at' | 'numbered'>): void {
    const { committedSeq, last } = this.#core.log
    this.add(channel, { ...requested, at: committedSeq, numbered: last })
    // The snapshot needs a sequence number that the client has not seen. If the client names this number later, it has received
    // the snapshot.
    if (this.seen >= committedSeq) this.#core.log.advance()
    this.#updateSent((snapshots) => snapshots.set(channel.uri, this.#snapshotSent(channel)))
  }

  /** Subscribes with the options that the client's older connection had. */
  restore(channel: Channel): void {
    const sent: Partial<SnapshotSent> = this.#record?.handed.get(channel.uri) ?? {}
    const { turns, maxLatencyMs, cut = 0 } = sent
    const view = turns === undefined ? {} : { turns }
    const { committedSeq } = this.#core.log
    this.add(channel, { view, latency: maxLatencyMs, leftOut: cut, at: committedSeq, numbered: 0 })
  }

  /** The number of a chat's oldest finished turns (its rows) that the client may lack. */
  missingRows(channel: Channel): number {
    const { leftOut, at } = this.of(channel)
    return channel.lastEmptied > at ? 0 : leftOut
  }

  /**
   * Records that the client is sent older finished turns (rows), or that all turns are removed. The caller appends
   * the action that does so in the same transaction. So the record is durable before the client can have seen the
   * action.
   */
  extend(channel: Channel, leftOut: number): void {
    const subscription = this.#channels.get(channel)
    if (!subscription) return
    this.#channels.set(channel, { ...subscription, leftOut: Math.min(subscription.leftOut, leftOut) })
    const sent = this.#record?.handed.get(channel.uri)
    if (sent?.cut === undefined || sent.extended) return
    this.#updateSent((snapshots) => snapshots.set(channel.uri, { ...sent, extended: true }))
  }

  /** Whether an entry is an outdated page of history: it belongs to an older snapshot than the one that the client has now. */
  isOutdated({ only, origin, channel: uri, action, seq }: Entry): boolean {
    if (!only || origin || action.type !== 'chat/turnsLoaded') return false
    const channel = this.find(uri)
    return channel !== undefined && seq <= this.of(channel).numbered
  }

  /**
   * Whether this connection delivers the echo of the client's action, or has delivered it: as an envelope, in the replay, or
   * as part of a snapshot.
   */
  isDeliveredTo(channel: Channel, seq: number): boolean {
    if (seq > this.#core.log.committedSeq || this.undelivered.has(seq)) return true
    const from = this.#record?.handed.get(channel.uri)?.fromSeq ?? Infinity
    return channel.listeners.has(this.#listener) && seq > Math.max(from, this.replayedFrom)
  }

  unsubscribe(uri: Uri): void {
    this.#stateless.get(uri)?.leave(this.#listener)
    this.#stateless.delete(uri)
    const channel = this.find(uri)
    if (channel) this.#remove(channel)
    if (this.#record?.handed.has(uri)) this.#updateSent((snapshots) => snapshots.delete(uri))
  }

  /** Keeps the subscriptions to these channels and ends all others. */
  retain(channels: readonly Channel[]): void {
    for (const channel of this.#channels.keys()) if (!channels.includes(channel)) this.#remove(channel)
  }

  clear(): void {
    this.retain([])
    for (const uri of this.#stateless.keys()) this.unsubscribe(uri)
  }

  /**
   * The subscribed channels that were removed. They are recognized by their listeners: the log clears the listeners of a
   * removed channel.
   */
  get #removed(): readonly Channel[] {
    return [...this.#channels.keys()].filter(({ listeners }) => !listeners.has(this.#listener))
  }

  #remove(channel: Channel): void {
    channel.listeners.delete(this.#listener)
    this.#channels.delete(channel)
    if (channel.listeners.size === 0) this.#core.jobs.job(channel.uri)?.unsubscribed?.()
    sleepWhenIdle(this.#core, channel)
  }

  /** The record of the snapshot that was last sent of a channel, for later connections of the client. */
  #snapshotSent(channel: Channel): SnapshotSent {
    const { view, latency, leftOut } = this.of(channel)
    const fromSeq = this.#core.log.committedSeq
    const unsure = this.seen >= fromSeq || undefined
    const cut = leftOut > 0 ? leftOut : undefined
    // If an action that removes all turns is appended and not yet committed, the client will soon have other turns
    // than `cut` says. `extended` records this.
    const extended = (leftOut > 0 && channel.lastEmptied > fromSeq) || undefined
    return compact<SnapshotSent>({ fromSeq, unsure, turns: view.turns, maxLatencyMs: latency, cut, extended })
  }

  /** Changes the snapshots in the client's record. */
  #updateSent(change: (snapshots: Map<Uri, SnapshotSent>) => unknown): void {
    if (!this.#record) return
    const snapshots = new Map(this.#record.handed)
    change(snapshots)
    this.keep({ ...this.#record, handed: snapshots })
  }
}
