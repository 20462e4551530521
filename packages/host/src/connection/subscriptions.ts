import type { Uri } from '@atrium/protocol/channel'
import { compact } from '@atrium/protocol/update'
import type { Channel } from '../log/channel.ts'
import type { ClientRecord, SnapshotSent } from '../core/clients.ts'
import type { Core } from '../core/core.ts'
import type { Entry, Listener } from '../log/entry.ts'
import { sleepWhenIdle } from '../channels/sleep.ts'
import type { View } from '../channels/snapshot.ts'

/** How a subscriber wants to see a channel, and what it has of it. */
export interface Subscription {
  readonly view: View
  readonly latency: number | undefined
  /** So many of its rows are older than those that the client has. */
  readonly leftOut: number
  /** That was so at this number. */
  readonly at: number
  /** And everything up to this one was numbered by then, told or not. */
  readonly numbered: number
}

const plainly: Subscription = { view: {}, latency: undefined, leftOut: 0, at: 0, numbered: 0 }

/** The channels that one link follows, and what its client has been handed of them. */
export class Subscriptions {
  readonly #core: Core
  readonly #listener: Listener
  readonly #channels = new Map<Channel, Subscription>()
  #record: ClientRecord | undefined
  /** The highest number that the client may have seen by now. */
  seen = 0
  /** What the client dispatched over another link and is told on this one, whether it follows the channel or not. */
  undelivered: ReadonlySet<number> = new Set()
  /** It was spared what came before this number. */
  replayedFrom = 0

  constructor(core: Core, listener: Listener) {
    this.#core = core
    this.#listener = listener
  }

  /** What is remembered of the client, once it has said who it is. */
  get record(): ClientRecord | undefined {
    return this.#record
  }

  keep(record: ClientRecord): void {
    this.#record = record
    this.#core.clients.keep(record)
  }

  /** The smallest that any of its subscriptions asked for; nothing where none did. */
  get latency(): number | undefined {
    const asked = [...this.#channels.values()].flatMap(({ latency }) => latency ?? [])
    return asked.length === 0 ? undefined : Math.max(0, Math.min(...asked, this.#core.limits.latencyMs))
  }

  how(channel: Channel): Subscription {
    return this.#channels.get(channel) ?? plainly
  }

  find(uri: Uri): Channel | undefined {
    return [...this.#channels.keys()].find((channel) => channel.uri === uri)
  }

  /** Whether one more can be followed. */
  hasRoom(uri: Uri): boolean {
    // Nobody unsubscribes from what is no more: it must not take a place for ever.
    for (const channel of this.#gone) this.leave(channel.uri)
    return this.#channels.size < this.#core.limits.subscriptions || this.find(uri) !== undefined
  }

  add(channel: Channel, how: Subscription = this.how(channel)): void {
    channel.listeners.add(this.#listener)
    this.#channels.set(channel, how)
  }

  /** A channel's snapshot is about to be sent. */
  sendSnapshot(channel: Channel, how: Omit<Subscription, 'at' | 'numbered'>): void {
    const { committedSeq, last } = this.#core.log
    this.add(channel, { ...how, at: committedSeq, numbered: last })
    // That it has seen a number must show that it has the snapshot.
    if (this.seen >= this.#core.log.committedSeq) this.#core.log.advance()
    this.#remember((handed) => handed.set(channel.uri, this.#snapshotSent(channel)))
  }

  /** As it was before the link broke. */
  restore(channel: Channel): void {
    const {
      turns,
      maxLatencyMs,
      cut = 0,
    } = this.#record?.handed.get(channel.uri) ?? ({} as Partial<SnapshotSent>)
    const view = turns === undefined ? {} : { turns }
    const { committedSeq } = this.#core.log
    this.add(channel, { view, latency: maxLatencyMs, leftOut: cut, at: committedSeq, numbered: 0 })
  }

  /** So many of a channel's oldest rows the client may lack: it was handed the newest only. */
  missingRows(channel: Channel): number {
    const { leftOut: left, at } = this.how(channel)
    return channel.lastEmptied > at ? 0 : left
  }

  /** It is given older rows, or loses all: in this step, so that whoever has seen that is remembered to have. */
  extend(channel: Channel, left: number): void {
    const how = this.#channels.get(channel)
    if (!how) return
    this.#channels.set(channel, { ...how, leftOut: Math.min(how.leftOut, left) })
    const known = this.#record?.handed.get(channel.uri)
    if (known?.cut === undefined || known.extended) return
    this.#remember((handed) => handed.set(channel.uri, { ...known, extended: true }))
  }

  /** A page for what the client had before it was handed the snapshot that it has now. */
  isOutdated({ only, origin, channel: uri, action, seq }: Entry): boolean {
    if (!only || origin || action.type !== 'chat/turnsLoaded') return false
    const channel = this.find(uri)
    return channel !== undefined && seq <= this.how(channel).numbered
  }

  /** Whether this link is, or was, told of its own action: by itself, in its replay or behind its snapshot. */
  isDeliveredTo(channel: Channel, seq: number): boolean {
    if (seq > this.#core.log.committedSeq || this.undelivered.has(seq)) return true
    const from = this.#record?.handed.get(channel.uri)?.fromSeq ?? Infinity
    return channel.listeners.has(this.#listener) && seq > Math.max(from, this.replayedFrom)
  }

  leave(uri: Uri): void {
    const channel = this.find(uri)
    if (channel) this.#remove(channel)
    if (this.#record?.handed.has(uri)) this.#remember((handed) => handed.delete(uri))
  }

  retain(channels: readonly Channel[]): void {
    for (const channel of this.#channels.keys()) if (!channels.includes(channel)) this.#remove(channel)
  }

  clear(): void {
    this.retain([])
  }

  /** Those that are no more: when everyone was told so, the log let go of their listeners. */
  get #gone(): readonly Channel[] {
    return [...this.#channels.keys()].filter(({ listeners }) => !listeners.has(this.#listener))
  }

  #remove(channel: Channel): void {
    channel.listeners.delete(this.#listener)
    this.#channels.delete(channel)
    if (channel.listeners.size === 0) this.#core.jobs.job(channel.uri)?.left?.()
    sleepWhenIdle(this.#core, channel)
  }

  /** What is remembered of it beyond this link. */
  #snapshotSent(channel: Channel): SnapshotSent {
    const { view, latency, leftOut: left } = this.how(channel)
    const fromSeq = this.#core.log.committedSeq
    const unsure = this.seen >= fromSeq || undefined
    const cut = left > 0 ? left : undefined
    // That all are taken away is on its way already.
    const extended = (left > 0 && channel.lastEmptied > fromSeq) || undefined
    return compact<SnapshotSent>({ fromSeq, unsure, turns: view.turns, maxLatencyMs: latency, cut, extended })
  }

  #remember(change: (handed: Map<Uri, SnapshotSent>) => unknown): void {
    if (!this.#record) return
    const handed = new Map(this.#record.handed)
    change(handed)
    this.keep({ ...this.#record, handed })
  }
}
