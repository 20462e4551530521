import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import { limits } from '@atrium/protocol/limits'
import type { KindName } from '@atrium/protocol/reducers'
import { Channel, needsRow, takesAll } from './channel.ts'
import { GroupCommit } from './group-commit.ts'
import { RowLoader } from './row-loader.ts'
import { asStored, entryIn } from './entry.ts'
import type { Entry, Listener, EntryContent } from './entry.ts'
import { equal } from './equal.ts'
import type { LogStore, RowChange, StoredEnvelope } from '../ports/log.ts'
import type { World } from '../ports/world.ts'
import type { Dispatcher, LogEvents, LogOptions, StagedPart } from './options.ts'
import { Sequence } from './sequence.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import type { QueuedEntry } from './delivery-queue.ts'
import { loadChannel } from './load.ts'
import { Waiters } from './waiters.ts'

/**
 * Numbers, reduces, keeps, tells. The one door is synchronous: nothing waits between reading a state and numbering a
 * change, and what is appended in one step is stored whole or not at all.
 */
export class Log {
  readonly #store: LogStore
  readonly #world: World
  readonly #events: LogEvents
  readonly #commit: GroupCommit
  readonly #awake = new Map<Uri, Channel>()
  readonly #waking = new Map<Uri, Promise<Channel | undefined>>()
  /** Dropped, and perhaps still on the disk: not to be woken. */
  readonly #dropped = new Set<Uri>()
  /** Being made on the disk: nobody finds them, until they are shown or dropped. */
  readonly staged = new Set<Uri>()
  readonly #waiters = new Waiters()
  readonly #queue: DeliveryQueue
  readonly #sequence: Sequence
  readonly #rowLoader: RowLoader
  #scheduled = false
  readonly #headEvery: number
  readonly #tail: number
  readonly first: number

  constructor(
    store: LogStore,
    world: World,
    events: LogEvents,
    { records, first, headEvery = 1000, tail = 50 }: LogOptions,
  ) {
    this.#headEvery = headEvery
    this.#tail = Math.max(1, tail)
    this.#store = store
    this.#world = world
    this.#events = events
    this.first = first
    this.#sequence = new Sequence(first)
    this.#queue = new DeliveryQueue(first - 1)
    this.#rowLoader = new RowLoader(store, this.#queue, (channel) => this.channel(channel.uri) === channel)
    const heard = {
      moved: () => this.#deliver(),
      filled: () => this.#waiters.look(),
      fatal: (error: unknown) => events.fatal(error),
    }
    this.#commit = new GroupCommit(store, records, world, heard, first)
  }

  /** The number up to which everyone has been told: the one before the first strict action that is not durable. */
  get committedSeq(): number {
    return this.#queue.committedSeq
  }

  /** The number that was last given. */
  get last(): number {
    return this.#sequence.last
  }

  get diskFull(): boolean {
    return this.#commit.full
  }

  /** So much waits, for the disk or behind what does, that nobody may add to it. */
  get congested(): boolean {
    const crowded = this.#commit.congested || this.#queue.directLength > limits.unflushedBytes
    return crowded || this.#sequence.last + 1000 > this.#commit.upTo
  }

  /** The disk must know how far numbers may run before the first is handed out. */
  begin(): Promise<void> {
    return this.#commit.begin()
  }

  /** The channel, if it is awake and, where a kind is given, of that kind. */
  channel(uri: Uri): Channel | undefined
  channel<K extends KindName>(uri: Uri, kind: K): Channel<K> | undefined
  channel(uri: Uri, kind?: KindName): Channel | undefined {
    const channel = this.#awake.get(uri)
    return kind === undefined || channel?.is(kind) ? channel : undefined
  }

  /** All that are. */
  get channels(): Iterable<Channel> {
    return this.#awake.values()
  }

  /** Whether it is awake, or will be in a moment. */
  isAwake(uri: Uri): boolean {
    return this.#awake.has(uri) || this.#waking.has(uri)
  }

  /** Keeps a piece of a channel that is hidden, and tells nobody. Gives its number. */
  writeStaged(channel: Channel, { created, action, rows = [], head }: StagedPart): number {
    const { uri, kind } = channel
    const seq = this.#nextSeq(true)
    if (created)
      this.#commit.create({ seq, channel: uri, kind: kind.name, state: JSON.stringify(channel.head) })
    if (action !== undefined) this.#commit.envelope({ seq, channel: uri, action })
    this.#commit.rows(rows)
    if (head !== undefined) this.#commit.head({ channel: uri, seq, state: head })
    this.#enqueue(channel, channel.head, true, { seq, last: seq, action: creation, text: '' })
    return seq
  }

  /** A hidden channel, as it is on the disk. */
  async loadStaged(uri: Uri): Promise<Channel | undefined> {
    const found = await loadChannel(this.#store, uri, this.#tail)
    return found?.(this.committedSeq)
  }

  /** A channel that was hidden is there from now on, as if it had just been woken. */
  publish(channel: Channel): void {
    this.staged.delete(channel.uri)
    this.#awake.set(channel.uri, channel)
  }

  create<K extends KindName>(uri: Uri, kindName: K, state: StateOf<K>): Channel<K> {
    const kind = kindNamed(kindName)
    if (!kind || this.#awake.has(uri)) throw new Error(`cannot be born: ${kindName} ${uri}`)
    const channel = new Channel<K>(uri, kind, state, 0)
    this.#awake.set(uri, channel)
    const seq = this.#nextSeq(true)
    this.#commit.create({ seq, channel: uri, kind: kindName, state: JSON.stringify(state) })
    this.#enqueue(channel, state, true, { seq, last: seq, action: creation, text: '' })
    return channel
  }

  /** Makes an action true. */
  append<K extends KindName>(channel: Channel<K>, action: ActionOn<K>, by?: Dispatcher): Entry {
    return this.#append(channel, action, channel.reduce(action), by)
  }

  /** The same for an action that a schema has checked, and whose type the compiler does not know. */
  appendChecked(channel: Channel, action: Action, by?: Dispatcher): Entry {
    return this.#append(channel, action, channel.reduce(action), by)
  }

  /**
   * Makes a text true that came in pieces: as one action, or as an action each where somebody wants them so. Of their
   * states one step shows nobody any but the last.
   */
  appendText(channel: Channel, whole: Action, pieces: readonly Action[]): void {
    const state = channel.reduce(whole)
    const rows = channel.advance(whole, state)
    const actions = channel.wantsEach ? pieces : [whole]
    for (const action of actions) this.#record(channel, action, state)
    this.#storeRows(channel, rows)
    for (const action of actions) this.#events.appended(channel, action)
  }

  /** A client's wish that nothing forbids. One that changes nothing is echoed to its sender and kept nowhere. */
  accept(channel: Channel, action: Action, by: Dispatcher, sender: Listener): Entry {
    const state = channel.reduce(action)
    const passing = channel.kind.classes.get(action.type) === 'ephemeral'
    if (passing || !equal(state, channel.head)) return this.#append(channel, action, state, by, sender)
    return this.#sendOnly(channel, action, by, sender)
  }

  /** Answers a wish that is not granted: numbered, told to its sender alone, not reduced and not kept. */
  refuse(channel: Channel, action: Action, by: Dispatcher, sender: Listener, reason: string): Entry {
    return this.#sendOnly(channel, action, by, sender, reason)
  }

  /** Tells one alone what is nobody else's: numbered, not reduced and not kept. */
  sendTo<K extends KindName>(channel: Channel<K>, action: ActionOn<K>, to: Listener): Entry {
    return this.#sendOnly(channel, action, undefined, to)
  }

  /** A number that nobody has seen becomes the told one, if nothing waits: so that a snapshot can have it for its own. */
  advance(): void {
    if (this.#queue.empty && !this.congested) this.#queue.skip(this.#sequence.next())
  }

  /** Forgets a channel. What was said before is still told; then its listeners are let go. Gives its number. */
  drop(channel: Channel): number {
    const seq = this.#nextSeq(true)
    this.#commit.drop(channel.uri, seq)
    this.#awake.delete(channel.uri)
    this.#dropped.add(channel.uri)
    this.#enqueue(channel, channel.head, true, { seq, last: seq, action: removal, text: '' })
    return seq
  }

  /** Brings a channel into memory. Nothing when there is none; throws when what is stored of it cannot be trusted. */
  async wake(uri: Uri): Promise<Channel | undefined> {
    const awake = this.#awake.get(uri)
    if (awake || this.#dropped.has(uri)) return awake
    const waking = this.#waking.get(uri) ?? this.#load(uri).finally(() => this.#waking.delete(uri))
    this.#waking.set(uri, waking)
    return waking
  }

  /**
   * Brings into memory the rows of a channel that are not there: all, or from this one on. Nothing is numbered and nobody
   * is told, for nothing has happened: all its states show more of the same past.
   */
  loadRows(channel: Channel, fromId?: string): Promise<void> {
    return this.#rowLoader.load(channel, fromId)
  }

  /** Puts a channel out of memory if nothing needs it there. */
  sleep(channel: Channel): boolean {
    const busy = channel.listeners.size > 0 || channel.uncommitted > 0 || !this.#commit.safe(channel.stored)
    if (busy || this.#awake.get(channel.uri) !== channel) return false
    const { changed } = channel
    if (changed) this.#writeHead(channel)
    this.#schedule()
    // What only passed is in the head and nowhere else: the channel stays until that is durable.
    if (changed && channel.lossy) return false
    this.#awake.delete(channel.uri)
    return true
  }

  /** A flush is due: for records beside the log, or for a channel's state, where nothing else is kept of what only passed. */
  scheduleFlush(channel?: Channel): void {
    if (channel?.changed) this.#writeHead(channel)
    this.#schedule()
  }

  /** Resolves when everyone has been told up to a number. */
  reached(seq: number): Promise<void> {
    return this.#waiters.until(() => this.committedSeq >= seq)
  }

  /** Resolves when a channel's told state is as wished. */
  when<K extends KindName>(channel: Channel<K>, wished: (state: StateOf<K>) => boolean): Promise<void> {
    return this.#waiters.until(() => channel.committed !== undefined && wished(channel.committed))
  }

  /** Resolves when there is room for more, at once where there is. */
  room(): Promise<void> {
    return this.#waiters.until(() => !this.congested)
  }

  /** The same for whoever needs the disk: without space there is none. */
  space(): Promise<void> {
    return this.#waiters.until(() => !this.congested && !this.diskFull)
  }

  /** Resolves when all that was appended is durable; with false where the disk has no space for it. */
  settled(): Promise<boolean> {
    this.#settle()
    return this.#commit.settled()
  }

  /** What a client dispatched and nobody was told yet. */
  uncommittedOf(clientId: string): readonly StoredEnvelope[] {
    return this.#queue.of(clientId).flatMap(({ entry }) => (entry.only ? [] : asStored(entry)))
  }

  /** What a client dispatched that was stored nowhere, because it only passes. */
  ephemeralOf(clientId: string): readonly StoredEnvelope[] {
    return [...this.#awake.values()].flatMap((channel) => channel.ephemeralBy(clientId).flatMap(asStored))
  }

  /** A client has a new link: what it had dispatched and nobody was told yet is told there. */
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
    by?: Dispatcher,
    sender?: Listener,
  ): Entry {
    const rows = channel.advance(action, state)
    const { entry, passing } = this.#record(channel, action, state, by, sender)
    if (passing) return entry
    if (needsRow(action)) channel.lastRowNeeded = entry.seq
    if (takesAll(action)) channel.lastEmptied = entry.seq
    this.#storeRows(channel, rows)
    this.#events.appended(channel, action, by)
    return entry
  }

  /** Numbers an action that is reduced, gives it to the store, and lets it wait to be told. */
  #record(channel: Channel, action: Action, state: unknown, by?: Dispatcher, sender?: Listener) {
    const kept = channel.kind.classes.get(action.type) ?? 'strict'
    const strict = kept === 'strict'
    const passing = kept === 'ephemeral'
    const text = JSON.stringify(action)
    const seq = this.#nextSeq(strict, channel.strideOf(action))
    const origin = by && { clientId: by.clientId, clientSeq: by.clientSeq }
    const said = { seq, last: this.#sequence.last, action, text, origin }
    const entry = this.#enqueue(channel, state, strict, said, sender)
    if (passing) channel.keepEphemeral(entry)
    else {
      const stored = { seq, channel: channel.uri, action: text }
      this.#commit.envelope(by ? { ...stored, origin: by } : stored)
      channel.stored = this.#commit.mark
      channel.sinceHead++
      channel.lengthSinceHead += text.length
    }
    return { entry, passing }
  }

  /** What became of the rows, and a head where one is due: it says what the state is after all that was numbered. */
  #storeRows(channel: Channel, rows: readonly RowChange[]): void {
    this.#commit.rows(rows)
    channel.rowsSinceHead += rows.length
    // A row that goes away could be needed to fold what comes after an older head: so a new head goes with it.
    if (channel.headDue(this.#headEvery) || rows.some((row) => row.text === undefined))
      this.#writeHead(channel)
  }

  #sendOnly(
    channel: Channel,
    action: Action,
    by: Dispatcher | undefined,
    only: Listener,
    reason?: string,
  ): Entry {
    const overtaking = by && this.#commit.full ? this.#queue.overtaking(by.clientId) : undefined
    const seq = overtaking ?? this.#sequence.next()
    const origin = by && { clientId: by.clientId, clientSeq: by.clientSeq }
    const text = JSON.stringify(action)
    return this.#enqueue(channel, channel.head, false, { seq, last: seq, action, text, origin, only, reason })
  }

  /** Before the first strict action that waits, some numbers are left free. */
  #nextSeq(strict: boolean, count = 1): number {
    if (strict && !this.#queue.blocked) this.#sequence.skip()
    return this.#sequence.next(count)
  }

  #enqueue(channel: Channel, state: unknown, strict: boolean, said: EntryContent, sender?: Listener): Entry {
    const entry = entryIn(channel, said)
    this.#queue.add({ entry, channel, state, olderRows: channel.olderRows, strict, sender })
    this.#schedule()
    return entry
  }

  #writeHead(channel: Channel): void {
    this.#commit.head({ channel: channel.uri, seq: this.#sequence.last, state: channel.headText() })
    channel.headWritten()
    channel.stored = this.#commit.mark
  }

  /** Once the present step is over: it is given to the store, and whoever may be told is told. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#world.soon(() => this.#settle())
  }

  #settle(): void {
    this.#scheduled = false
    this.#commit.seal(this.#sequence.last)
    this.#deliver()
  }

  #deliver(): void {
    this.#queue.deliver(this.#commit.durable, this.#sequence.last, (queued) => this.#deliverOne(queued))
    this.#waiters.look()
  }

  #deliverOne({ entry, channel, state, olderRows, sender }: QueuedEntry): void {
    // What is said to one alone changes nothing.
    if (entry.only) return this.#attempt(() => entry.only?.deliver(entry))
    // The queue holds states of all kinds; this one was reduced from the head of this channel.
    channel.committed = state as StateOf<KindName>
    channel.committedOlder = olderRows
    if (entry.action === creation) return
    if (entry.action === removal) {
      channel.listeners.clear()
      this.#dropped.delete(channel.uri)
      this.staged.delete(channel.uri)
      return
    }
    for (const listener of channel.listeners) this.#attempt(() => listener.deliver(entry))
    // Who dispatches without having subscribed still learns what became of it.
    if (sender && !channel.listeners.has(sender)) this.#attempt(() => sender.deliver(entry))
    this.#attempt(() => this.#events.committed(channel, entry))
  }

  /** One who cannot be told must not keep it from the others. */
  #attempt(task: () => void): void {
    try {
      task()
    } catch (error) {
      this.#world.report('telling failed', error)
    }
  }

  async #load(uri: Uri): Promise<Channel | undefined> {
    const found = await loadChannel(this.#store, uri, this.#tail)
    // It may have been born, or woken, while the disk was asked.
    const meanwhile = this.#awake.get(uri)
    if (meanwhile || !found || this.#dropped.has(uri) || this.staged.has(uri)) return meanwhile
    const channel = found(this.committedSeq)
    this.#awake.set(uri, channel)
    return channel
  }
}

// In the queue so that nothing behind them is told before they are durable; told to nobody.
const creation: Action = { type: '@born' }
const removal: Action = { type: '@dropped' }
