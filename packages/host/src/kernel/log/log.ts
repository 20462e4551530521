import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import { limits } from '@atrium/protocol/limits'
import type { KindName } from '@atrium/protocol/reducers'
import type { LogStore, StoredEnvelope } from '../../ports/log.ts'
import type { World } from '../../ports/world.ts'
import { AwakeChannels } from './awake-channels.ts'
import { Channel } from './channel.ts'
import { Delivery } from './delivery.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import { asStored } from './entry.ts'
import type { Entry, Listener } from './entry.ts'
import { EntryWriter } from './entry-writer.ts'
import { equal } from './equal.ts'
import { GroupCommit } from './group-commit.ts'
import { RecentEnvelopes } from './kept-entries.ts'
import { LogProgress } from './log-progress.ts'
import type { LogEvents, LogOptions, Sender } from './options.ts'
import { RowLoader } from './row-loader.ts'
import { Sequence } from './sequence.ts'
import { StagedChannels } from './staged-channels.ts'

/**
 * The log numbers, reduces, stores and delivers actions. Appending is synchronous, so nothing can happen between
 * reading a state and numbering a change of that state. The actions of one step, which is one run of synchronous
 * code, are stored together or not at all.
 */
export class Log extends LogProgress {
  /** The first sequence number of this run of the host. */
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
  readonly #recent: RecentEnvelopes

  constructor(
    store: LogStore,
    world: World,
    events: LogEvents,
    { records, first, headEvery = 1000, tail = 50, recentLength = limits.recentLength }: LogOptions,
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
      fullChanged: (full: boolean) => events.fullChanged?.(full),
      fatal: (error: unknown) => events.fatal(error),
    }
    const recent = new RecentEnvelopes(first, recentLength)
    const commit = new GroupCommit({ store, records, recent, world, first, events: commitEvents })
    this.#sequence = sequence
    this.#queue = queue
    this.#channels = channels
    this.#commit = commit
    this.#recent = recent
    this.#delivery = new Delivery({ queue, channels, world, events })
    this.#writer = new EntryWriter({ commit, queue, sequence, world, headEvery, stepEnded })
    this.staged = new StagedChannels(channels, this.#writer)
    this.#rowLoader = new RowLoader(store, queue, channels)
  }

  get committedSeq(): number {
    return this.#queue.committedSeq
  }

  /** The last sequence number that was assigned, committed or not. */
  get last(): number {
    return this.#sequence.last
  }

  get diskFull(): boolean {
    return this.#commit.full
  }

  /** Whether, on a full disk, an action may wait behind earlier ones of its client. A refusal would come as late. */
  mayWaitForSpace(clientId: string): boolean {
    return this.#commit.mayWaitForSpace && this.#queue.has(clientId)
  }

  /** Whether nothing may be appended for now: too much waits for the disk, or the numbers below the durable bound are used up. */
  get congested(): boolean {
    const tooMuch = this.#commit.congested || this.#queue.directLength > limits.unflushedBytes
    return tooMuch || this.#sequence.last + 1000 > this.#commit.upTo
  }

  get backlog(): number {
    return this.#commit.backlog
  }

  /** Stores the highest sequence number that may be assigned for now. Comes before the first append. */
  begin(): Promise<void> {
    return this.#commit.begin()
  }

  /** Returns a channel if it is in memory and, if a kind is given, is of that kind. */
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

  /** Applies an action to the head of a channel, numbers the action and queues it. */
  append<K extends KindName>(channel: Channel<K>, action: ActionOn<K>): Entry {
    return this.#append(channel, action, channel.reduce(action))
  }

  /** Does the same as `append` for an action that a schema has checked and whose type the compiler does not know. */
  appendChecked(channel: Channel, action: Action): Entry {
    return this.#append(channel, action, channel.reduce(action))
  }

  /**
   * Appends a text that came in pieces: as one action, or, if a listener wants each piece, as one action for each. All these
   * entries carry the state after the last piece, because nobody sees a state in the middle of a step.
   */
  appendText(channel: Channel, whole: Action, pieces: readonly Action[]): void {
    const rows = channel.advance(whole, channel.reduce(whole))
    const actions = channel.wantsEach ? pieces : [whole]
    for (const action of actions) this.#writer.write(channel, action)
    this.#writer.writeRows(channel, rows)
    for (const action of actions) this.#events.appended(channel, action)
  }

  /** Appends a dispatched action that no guard refused. An action that changes nothing is echoed only to its sender. */
  accept(channel: Channel, action: Action, sender: Sender): Entry {
    const state = channel.reduce(action)
    const ephemeral = channel.kind.classes.get(action.type) === 'ephemeral'
    if (ephemeral || !equal(state, channel.head)) return this.#append(channel, action, state, sender)
    const { by, listener, sent } = sender
    return this.#writer.sendOnly(channel, action, listener, { by, sent })
  }

  /** Sends a refusal to the sender of an action. The refused action gets a number, but is neither reduced nor stored. */
  refuse(channel: Channel, action: Action, { by, listener, sent }: Sender, reason: string): Entry {
    return this.#writer.sendOnly(channel, sent ?? action, listener, { by, reason })
  }

  /** Sends an accepted action to its sender alone, after everything that was appended before. It is neither reduced nor stored. */
  echo(channel: Channel, action: Action, { by, listener, sent }: Sender): Entry {
    return this.#writer.sendOnly(channel, action, listener, { by, sent, inOrder: true })
  }

  /** Sends an action to a single listener. The action gets a number, but is neither reduced nor stored. */
  sendTo<K extends KindName>(channel: Channel<K>, action: ActionOn<K>, to: Listener): Entry {
    return this.#writer.sendOnly(channel, action, to)
  }

  /**
   * If no entries wait, assigns and commits a sequence number without an action. A snapshot made next then has a
   * number that no client has seen.
   */
  advance(): void {
    if (this.#queue.empty && !this.congested) this.#queue.skip(this.#sequence.next())
  }

  /**
   * Removes a channel. Entries that were queued before the removal are still delivered; after that the channel's listeners
   * are removed. Returns the sequence number of the removal.
   */
  drop(channel: Channel): number {
    const seq = this.#writer.drop(channel)
    this.#channels.drop(channel)
    return seq
  }

  /**
   * Loads a channel into memory. Returns undefined if there is no such channel, and its removal is committed. Throws if
   * its stored history is damaged.
   */
  async wake(uri: Uri): Promise<Channel | undefined> {
    if (this.isDropped(uri)) await this.removed(uri)
    return this.#channels.wake(uri)
  }

  isDropped(uri: Uri): boolean {
    return this.#channels.isDropped(uri)
  }

  /**
   * Loads rows of a channel that are not in memory: all such rows, or those from `fromId` on. Nothing is numbered or
   * delivered, because no state changes: the states in memory only show more of their rows.
   */
  loadRows(channel: Channel, fromId?: string): Promise<void> {
    return this.#rowLoader.load(channel, fromId)
  }

  /** Removes a channel from memory if nothing needs it there. Returns whether the channel was removed. */
  sleep(channel: Channel): boolean {
    const { writes } = channel
    const busy = channel.listeners.size > 0 || channel.uncommitted > 0 || !this.#commit.isDurable(writes.last)
    if (busy || !this.#channels.holds(channel)) return false
    const { changed } = writes
    this.scheduleFlush(channel)
    // Only the head contains the effects of ephemeral actions, so the channel stays in memory until the head is durable.
    if (changed && channel.lossy) return false
    this.#channels.sleep(channel)
    return true
  }

  /**
   * Schedules a flush of the records that were put. If a channel is given, its head is written, too: only the head
   * contains the effects of ephemeral actions.
   */
  scheduleFlush(channel?: Channel): void {
    if (channel?.writes.changed) this.#writer.writeHead(channel)
    this.#writer.scheduleStepEnd()
  }

  /** Resolves with true when everything appended is durable. Resolves with false when the disk is full or the host ends. */
  settled(): Promise<boolean> {
    this.#writer.endStep()
    return this.#commit.settled()
  }

  /** The actions of a client that are not committed. */
  uncommittedOf(clientId: string): readonly StoredEnvelope[] {
    return this.#queue.of(clientId).flatMap(({ entry }) => (entry.only ? [] : asStored(entry)))
  }

  /** The stored actions with higher numbers than `after`, of all channels. Undefined if memory does not have all of them. */
  recentSince(after: number): readonly StoredEnvelope[] | undefined {
    return this.#recent.since(after)
  }

  /**
   * Removes the actions up to this number from memory, those of all channels. Called when the store has forgotten the
   * actions of one channel up to this number, so that no client gets forgotten actions from memory.
   */
  forgot(upTo: number): void {
    this.#recent.forget(upTo)
  }

  /** The ephemeral actions of a client that are still in memory. They are not stored. */
  ephemeralOf(clientId: string): readonly StoredEnvelope[] {
    return [...this.channels].flatMap((channel) => channel.ephemeralBy(clientId).flatMap(asStored))
  }

  /** Sends the echoes of a client's uncommitted actions to the client's new connection. */
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
