import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import { limits } from '@atrium/protocol/limits'
import type { KindName } from '@atrium/protocol/reducers'
import type { LogStore, StoredEnvelope } from '../ports/log.ts'
import type { World } from '../ports/world.ts'
import { AwakeChannels } from './awake-channels.ts'
import { Channel } from './channel.ts'
import { Delivery } from './delivery.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import { asStored } from './entry.ts'
import type { Entry, Listener } from './entry.ts'
import { EntryWriter } from './entry-writer.ts'
import { equal } from './equal.ts'
import { GroupCommit } from './group-commit.ts'
import { LogProgress } from './log-progress.ts'
import type { LogEvents, LogOptions, Sender } from './options.ts'
import { RowLoader } from './row-loader.ts'
import { Sequence } from './sequence.ts'
import { StagedChannels } from './staged-channels.ts'

/**
 * The log of actions: numbers, reduces, stores and delivers them. Appending is synchronous: nothing can happen between
 * reading a state and numbering a change of it. The actions of one step are stored together or not at all.
 */
export class Log extends LogProgress {
  /** The first number of this epoch. */
  readonly first: number
  readonly staged: StagedChannels
  readonly #events: LogEvents
  readonly #sequence: Sequence
  readonly #queue: DeliveryQueue
  readonly #channels: AwakeChannels
  readonly #delivery: Delivery
  readonly #commit: GroupCommit
  readonly #writer: EntryWriter
  readonly #rowLoader: RowLoader

  constructor(
    store: LogStore,
    world: World,
    events: LogEvents,
    { records, first, headEvery = 1000, tail = 50 }: LogOptions,
  ) {
    super()
    this.first = first
    this.#events = events
    const sequence = new Sequence(first)
    const queue = new DeliveryQueue(first - 1)
    const channels = new AwakeChannels(store, Math.max(1, tail), queue)
    const stepEnded = () => this.#deliver()
    const commitEvents = {
      flushed: stepEnded,
      diskFull: () => this.progressed(),
      fatal: (error: unknown) => events.fatal(error),
    }
    const commit = new GroupCommit({ store, records, world, first, events: commitEvents })
    this.#sequence = sequence
    this.#queue = queue
    this.#channels = channels
    this.#commit = commit
    this.#delivery = new Delivery({ queue, channels, world, events })
    this.#writer = new EntryWriter({ commit, queue, sequence, world, headEvery, stepEnded })
    this.staged = new StagedChannels(channels, this.#writer)
    this.#rowLoader = new RowLoader(store, queue, channels)
  }

  get committedSeq(): number {
    return this.#queue.committedSeq
  }

  /** The last number assigned, committed or not. */
  get last(): number {
    return this.#sequence.last
  }

  get diskFull(): boolean {
    return this.#commit.full
  }

  /** Whether nothing more may be appended: too much waits for the disk, or the numbers that the disk allows run out. */
  get congested(): boolean {
    const tooMuch = this.#commit.congested || this.#queue.directLength > limits.unflushedBytes
    return tooMuch || this.#sequence.last + 1000 > this.#commit.upTo
  }

  /** Stores how far the numbers of this epoch may run. Must resolve before the first append. */
  begin(): Promise<void> {
    return this.#commit.begin()
  }

  /** The channel if it is in memory and, where a kind is given, of that kind. */
  channel(uri: Uri): Channel | undefined
  channel<K extends KindName>(uri: Uri, kind: K): Channel<K> | undefined
  channel(uri: Uri, kind?: KindName): Channel | undefined {
    const channel = this.#channels.get(uri)
    return kind === undefined || channel?.is(kind) ? channel : undefined
  }

  /** All channels in memory. */
  get channels(): Iterable<Channel> {
    return this.#channels.all()
  }

  /** Whether a channel is in memory or is being loaded. */
  isAwake(uri: Uri): boolean {
    return this.#channels.isAwake(uri)
  }

  create<K extends KindName>(uri: Uri, kindName: K, state: StateOf<K>): Channel<K> {
    const kind = kindNamed(kindName)
    if (!kind) throw new Error(`cannot create ${uri}: there is no channel kind ${kindName}`)
    if (this.#channels.get(uri)) throw new Error(`cannot create ${uri}: the channel exists`)
    const channel = new Channel<K>(uri, kind, state)
    this.#channels.add(channel)
    this.#writer.create(channel)
    return channel
  }

  /** Applies an action to the head, numbers it and queues it. */
  append<K extends KindName>(channel: Channel<K>, action: ActionOn<K>): Entry {
    return this.#append(channel, action, channel.reduce(action))
  }

  /** The same for an action that a schema has checked and whose type the compiler does not know. */
  appendChecked(channel: Channel, action: Action): Entry {
    return this.#append(channel, action, channel.reduce(action))
  }

  /**
   * Appends a text that came in pieces: as one action, or as one action for each piece where a listener wants each. All of
   * them carry the last state: a step shows nobody the states between.
   */
  appendText(channel: Channel, whole: Action, pieces: readonly Action[]): void {
    const rows = channel.advance(whole, channel.reduce(whole))
    const actions = channel.wantsEach ? pieces : [whole]
    for (const action of actions) this.#writer.write(channel, action)
    this.#writer.writeRows(channel, rows)
    for (const action of actions) this.#events.appended(channel, action)
  }

  /** Appends a dispatched action that no guard refused. An action that changes nothing is echoed to its sender alone. */
  accept(channel: Channel, action: Action, sender: Sender): Entry {
    const state = channel.reduce(action)
    const ephemeral = channel.kind.classes.get(action.type) === 'ephemeral'
    if (ephemeral || !equal(state, channel.head)) return this.#append(channel, action, state, sender)
    return this.#writer.sendOnly(channel, action, sender.listener, { by: sender.by })
  }

  /** Sends a refusal to the sender of an action: numbered, neither reduced nor stored. */
  refuse(channel: Channel, action: Action, { by, listener }: Sender, reason: string): Entry {
    return this.#writer.sendOnly(channel, action, listener, { by, reason })
  }

  /** Sends an action to one listener: numbered, neither reduced nor stored. */
  sendTo<K extends KindName>(channel: Channel<K>, action: ActionOn<K>, to: Listener): Entry {
    return this.#writer.sendOnly(channel, action, to)
  }

  /** Commits a number that nobody has seen, unless entries wait, so that a snapshot can have a number of its own. */
  advance(): void {
    if (this.#queue.empty && !this.congested) this.#queue.skip(this.#sequence.next())
  }

  /**
   * Removes a channel. Entries queued before are still delivered; then its listeners are removed. Returns the sequence
   * number of the removal.
   */
  drop(channel: Channel): number {
    const seq = this.#writer.drop(channel)
    this.#channels.drop(channel)
    return seq
  }

  /** Loads a channel into memory. Undefined when there is none; throws when its stored history is damaged. */
  wake(uri: Uri): Promise<Channel | undefined> {
    return this.#channels.wake(uri)
  }

  /**
   * Loads the rows of a channel that are not in memory: all of them, or those from one id on. Nothing is numbered or
   * delivered, because no state changes: every state of the channel only shows more of its rows.
   */
  loadRows(channel: Channel, fromId?: string): Promise<void> {
    return this.#rowLoader.load(channel, fromId)
  }

  /** Removes a channel from memory if nothing needs it there. Returns whether it did. */
  sleep(channel: Channel): boolean {
    const { writes } = channel
    const busy = channel.listeners.size > 0 || channel.uncommitted > 0 || !this.#commit.isDurable(writes.last)
    if (busy || !this.#channels.holds(channel)) return false
    const { changed } = writes
    this.scheduleFlush(channel)
    // Ephemeral actions are in the head alone, so the channel stays until the head is durable.
    if (changed && channel.lossy) return false
    this.#channels.sleep(channel)
    return true
  }

  /** Schedules a flush: of records, and of a channel's head, the only place that contains its ephemeral actions. */
  scheduleFlush(channel?: Channel): void {
    if (channel?.writes.changed) this.#writer.writeHead(channel)
    this.#writer.scheduleStepEnd()
  }

  /** Resolves with true when all that was appended is durable, and with false when the disk has no space for it. */
  settled(): Promise<boolean> {
    this.#writer.endStep()
    return this.#commit.settled()
  }

  /** The actions of a client that are not committed. */
  uncommittedOf(clientId: string): readonly StoredEnvelope[] {
    return this.#queue.of(clientId).flatMap(({ entry }) => (entry.only ? [] : asStored(entry)))
  }

  /** The ephemeral actions of a client that are still in memory; they are stored nowhere. */
  ephemeralOf(clientId: string): readonly StoredEnvelope[] {
    return [...this.channels].flatMap((channel) => channel.ephemeralBy(clientId).flatMap(asStored))
  }

  /** Sends the echoes of a client's uncommitted actions to its new connection. */
  redirect(clientId: string, sender: Listener): void {
    this.#queue.redirect(clientId, sender)
  }

  end(): void {
    this.#commit.end()
  }

  #append<K extends KindName>(
    channel: Channel<K>,
    action: Action,
    state: StateOf<K>,
    sender?: Sender,
  ): Entry {
    const rows = channel.advance(action, state)
    const entry = this.#writer.write(channel, action, sender)
    if (channel.kind.classes.get(action.type) === 'ephemeral') return entry
    channel.numbered(action, entry.seq)
    this.#writer.writeRows(channel, rows)
    this.#events.appended(channel, action, sender?.by)
    return entry
  }

  #deliver(): void {
    this.#delivery.deliver(this.#commit.durable, this.#sequence.last)
    this.progressed()
  }
}
