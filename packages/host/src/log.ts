import type { Action, Origin, Snapshot, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import { Channel } from './channel.ts'
import { Commit } from './commit.ts'
import { Entry } from './entry.ts'
import type { Listener } from './entry.ts'
import { equal } from './equal.ts'
import type { LogStore } from './ports/log.ts'
import type { World } from './ports/world.ts'
import { Numbers } from './numbers.ts'
import { rebuild } from './rebuild.ts'
import { Waiters } from './waiters.ts'

export interface LogOptions {
  /** The number of this life's first action. */
  readonly first: number
  /** A head is written after so many stored actions, so that waking a channel folds no more than that. */
  readonly headEvery?: number
}

export type Dispatcher = Origin & { readonly principal: string }

export interface LogEvents {
  /** An action is appended: what is kept beside it belongs to the same step. */
  appended(channel: Channel): void
  /** An action is durable (or need not be) and everyone was told: the host may act on it. */
  told(channel: Channel, entry: Entry): void
  /** The store failed in a way that cannot be repaired here. */
  fatal(error: unknown): void
}

/**
 * Numbers, reduces, keeps, tells. The one door is synchronous: nothing waits between reading a state and numbering a
 * change, and what is appended in one step is stored whole or not at all.
 */
export class Log {
  readonly #store: LogStore
  readonly #world: World
  readonly #events: LogEvents
  readonly #commit: Commit
  readonly #awake = new Map<Uri, Channel>()
  readonly #waking = new Map<Uri, Promise<Channel | undefined>>()
  readonly #waiters = new Waiters()
  /** Appended and not told, oldest first. */
  readonly #queue: Queued[] = []
  readonly #numbers: Numbers
  #told: number
  #scheduled = false
  #telling = false
  readonly #headEvery: number
  readonly first: number

  constructor(store: LogStore, world: World, events: LogEvents, { first, headEvery = 1000 }: LogOptions) {
    this.#headEvery = headEvery
    this.#store = store
    this.#world = world
    this.#events = events
    this.first = first
    this.#numbers = new Numbers(first)
    this.#told = first - 1
    this.#commit = new Commit(
      store,
      world,
      { moved: () => this.#tell(), fatal: (error) => events.fatal(error) },
      first,
    )
  }

  /** The number up to which everyone has been told: the one before the first strict action that is not durable. */
  get told(): number {
    return this.#told
  }

  get diskFull(): boolean {
    return this.#commit.full
  }

  get congested(): boolean {
    return this.#commit.congested || this.#numbers.last + 1000 > this.#commit.upTo
  }

  /** The disk must know how far numbers may run before the first is handed out. */
  begin(): Promise<void> {
    return this.#commit.begin()
  }

  /** A channel that is awake. */
  channel(uri: Uri): Channel | undefined {
    return this.#awake.get(uri)
  }

  born(uri: Uri, kindName: string, state: object): Channel {
    const kind = kindNamed(kindName)
    if (!kind || this.#awake.has(uri)) throw new Error(`cannot be born: ${kindName} ${uri}`)
    const channel = new Channel(uri, kind, state, 0)
    this.#awake.set(uri, channel)
    const seq = this.#numbers.next()
    this.#commit.born({ seq, channel: uri, kind: kindName, state: JSON.stringify(state) })
    this.#enqueue(channel, state, true, { seq, last: seq, action: birth, text: '' })
    return channel
  }

  /** Makes an action true. */
  append(channel: Channel, action: Action, by?: Dispatcher): Entry {
    return this.#append(channel, action, channel.kind.reduce(channel.head, action), by)
  }

  /** A client's wish that nothing forbids. One that changes nothing is echoed to its sender and kept nowhere. */
  accept(channel: Channel, action: Action, by: Dispatcher, sender: Listener): Entry {
    const state = channel.kind.reduce(channel.head, action)
    const passing = channel.kind.classes.get(action.type) === 'passing'
    if (passing || !equal(state, channel.head)) return this.#append(channel, action, state, by)
    return this.#say(channel, action, by, sender)
  }

  /** Answers a wish that is not granted: numbered, told to its sender alone, not reduced and not kept. */
  refuse(channel: Channel, action: Action, by: Dispatcher, sender: Listener, reason: string): Entry {
    return this.#say(channel, action, by, sender, reason)
  }

  /** The state that everyone has been told, and its number. */
  snapshot(channel: Channel): Snapshot {
    return { resource: channel.uri, state: channel.told, fromSeq: this.#told }
  }

  /** Forgets a channel: its listeners are let go, a tombstone with a number stays. Gives the number. */
  drop(channel: Channel): number {
    const seq = this.#numbers.next()
    this.#commit.drop(channel.uri, seq)
    this.#awake.delete(channel.uri)
    channel.listeners.clear()
    this.#enqueue(channel, channel.head, true, { seq, last: seq, action: death, text: '' })
    return seq
  }

  /** Brings a channel into memory. Nothing when there is none; throws when what is stored of it cannot be trusted. */
  async wake(uri: Uri): Promise<Channel | undefined> {
    const awake = this.#awake.get(uri)
    if (awake) return awake
    const waking = this.#waking.get(uri) ?? this.#load(uri).finally(() => this.#waking.delete(uri))
    this.#waking.set(uri, waking)
    return waking
  }

  /** Puts a channel out of memory if nothing needs it there. */
  sleep(channel: Channel): boolean {
    const busy = channel.listeners.size > 0 || channel.untold > 0 || channel.stored > this.#commit.durable
    if (busy || this.#awake.get(channel.uri) !== channel) return false
    if (channel.sinceHead > 0) this.#writeHead(channel)
    this.#awake.delete(channel.uri)
    this.#schedule()
    return true
  }

  /** Resolves when everyone has been told up to a number. */
  reached(seq: number): Promise<void> {
    return this.#waiters.until(() => this.#told >= seq)
  }

  /** Resolves when a channel's told state is as wished. */
  when(channel: Channel, wished: (state: unknown) => boolean): Promise<void> {
    return this.#waiters.until(() => channel.told !== undefined && wished(channel.told))
  }

  /** Resolves when there is room for more, at once where there is. */
  room(): Promise<void> {
    return this.#waiters.until(() => !this.congested)
  }

  /** Resolves when all that was appended is durable. */
  async settled(): Promise<void> {
    this.#settle()
    await this.#commit.settled()
  }

  /** Records were put beside the log: they become durable with the next flush, which is due. */
  touch(): void {
    this.#commit.touch()
    this.#schedule()
  }

  end(): void {
    this.#commit.end()
  }

  #append(channel: Channel, action: Action, state: unknown, by?: Dispatcher): Entry {
    const kept = channel.kind.classes.get(action.type) ?? 'strict'
    const text = JSON.stringify(action)
    if (this.#queue.length === 0 && kept === 'strict') this.#numbers.leaveSpare()
    const seq = this.#numbers.next(channel.strideOf(action))
    const origin = by && { clientId: by.clientId, clientSeq: by.clientSeq }
    const rows = channel.rowChanges(channel.head, state)
    channel.head = state
    const entry = this.#enqueue(channel, state, kept === 'strict', {
      seq,
      last: this.#numbers.last,
      action,
      text,
      origin,
    })
    if (kept === 'passing') channel.pass(entry)
    else {
      this.#commit.envelope({ seq, channel: channel.uri, action: text, ...(by && { origin: by }) })
      this.#commit.rows(rows)
      channel.sinceHead++
      channel.stored = seq
      // A row that goes away could be needed to fold what comes after an older head: so a new head goes with it.
      if (channel.sinceHead >= this.#headEvery || rows.some((row) => row.text === undefined))
        this.#writeHead(channel)
      this.#events.appended(channel)
    }
    return entry
  }

  #say(channel: Channel, action: Action, by: Dispatcher, only: Listener, reason?: string): Entry {
    const seq = this.#overtaking(by) ?? this.#numbers.next()
    const origin = { clientId: by.clientId, clientSeq: by.clientSeq }
    const text = JSON.stringify(action)
    return this.#enqueue(channel, channel.head, false, { seq, last: seq, action, text, origin, only, reason })
  }

  /** An answer may go before what waits for space, if nothing of the same client waits and a number is free. */
  #overtaking({ clientId }: Dispatcher): number | undefined {
    if (!this.#commit.full || this.#queue.some(({ entry }) => entry.origin?.clientId === clientId))
      return undefined
    return this.#numbers.spare()
  }

  #enqueue(channel: Channel, state: unknown, strict: boolean, said: Said): Entry {
    const parts = { origin: undefined, reason: undefined, only: undefined, ...said }
    const entry = new Entry({ ...parts, channel: channel.uri, label: channel.label })
    const before = this.#queue.findLastIndex((waiting) => waiting.entry.seq < entry.seq)
    this.#queue.splice(before + 1, 0, { entry, channel, state, strict })
    channel.untold++
    this.#schedule()
    return entry
  }

  #writeHead(channel: Channel): void {
    this.#commit.head({ channel: channel.uri, seq: this.#numbers.last, state: channel.headText() })
    channel.sinceHead = 0
  }

  /** Once the present step is over: it is given to the store, and whoever may be told is told. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#world.soon(() => this.#settle())
  }

  #settle(): void {
    this.#scheduled = false
    this.#commit.seal(this.#numbers.last)
    this.#tell()
  }

  /** In number order, to each in turn. What is appended meanwhile waits, so that all see one order. */
  #tell(): void {
    if (this.#telling) return
    this.#telling = true
    let count = 0
    for (const { entry, channel, state, strict } of this.#queue) {
      if (strict && entry.seq > this.#commit.durable) break
      count++
      this.#told = entry.last
      // What is said to one alone changes nothing.
      if (!entry.only) channel.told = state
      channel.untold--
      if (entry.action === birth || entry.action === death) continue
      if (entry.only) entry.only.tell(entry)
      else for (const listener of channel.listeners) listener.tell(entry)
      if (!entry.only) this.#events.told(channel, entry)
    }
    this.#queue.splice(0, count)
    if (this.#queue.length === 0)
      this.#told = Math.max(this.#told, Math.min(this.#numbers.last, this.#commit.durable))
    this.#telling = false
    this.#waiters.look()
  }

  async #load(uri: Uri): Promise<Channel | undefined> {
    const loaded = await this.#store.load(uri)
    // It may have been born, or woken, while the disk was asked.
    const meanwhile = this.#awake.get(uri)
    if (meanwhile || !loaded) return meanwhile
    const { kind, state } = rebuild(uri, loaded)
    const channel = new Channel(uri, kind, state, this.#told)
    channel.told = state
    channel.sinceHead = 'damaged' in loaded ? 0 : loaded.envelopes.length
    this.#awake.set(uri, channel)
    return channel
  }
}

/** An action that waits to be told: whether for the disk, and the channel's state after it. */
interface Queued {
  readonly entry: Entry
  readonly channel: Channel
  readonly state: unknown
  readonly strict: boolean
}

type Said = Pick<Entry, 'seq' | 'last' | 'action' | 'text'> &
  Partial<Pick<Entry, 'origin' | 'reason' | 'only'>>

// In the queue so that nothing behind them is told before they are durable; told to nobody.
const birth: Action = { type: '@born' }
const death: Action = { type: '@dropped' }
