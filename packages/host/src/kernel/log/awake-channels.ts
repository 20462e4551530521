import type { Uri } from '@atrium/protocol/channel'
import type { LogStore } from '../../ports/log.ts'
import type { Channel } from './channel.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import { loadChannel } from './load.ts'

/** The channels in memory, and the loading of other channels into memory. */
export class AwakeChannels {
  readonly #store: LogStore
  readonly #tail: number
  readonly #queue: DeliveryQueue
  readonly #awake = new Map<Uri, Channel>()
  readonly #waking = new Map<Uri, Promise<Channel | undefined>>()
  /** Channels whose removal is not committed. The store may still have them, and they must not be loaded. */
  readonly #dropped = new Set<Uri>()
  /** Channels that are being written part by part. They must not be loaded before they are published. */
  readonly staged = new Set<Uri>()

  /** `tail`: the number of newest rows, such as turns of a chat, with which a channel is loaded. */
  constructor(store: LogStore, tail: number, queue: DeliveryQueue) {
    this.#store = store
    this.#tail = tail
    this.#queue = queue
  }

  /** Whether this very object is in memory, and not a later channel object of the same URI. */
  holds(channel: Channel): boolean {
    return this.#awake.get(channel.uri) === channel
  }

  get(uri: Uri): Channel | undefined {
    return this.#awake.get(uri)
  }

  all(): Iterable<Channel> {
    return this.#awake.values()
  }

  /** Whether a channel is in memory or is being loaded. */
  isAwake(uri: Uri): boolean {
    return this.#awake.has(uri) || this.#waking.has(uri)
  }

  add(channel: Channel): void {
    this.#awake.set(channel.uri, channel)
  }

  publish(channel: Channel): void {
    this.staged.delete(channel.uri)
    this.add(channel)
  }

  sleep({ uri }: Channel): void {
    this.#awake.delete(uri)
  }

  drop({ uri }: Channel): void {
    this.#awake.delete(uri)
    this.#dropped.add(uri)
  }

  /** Whether a channel was removed, and its removal is not committed. */
  isDropped(uri: Uri): boolean {
    return this.#dropped.has(uri)
  }

  /** Lets the URI of a channel be used again. Called when the removal of the channel is committed. */
  removed({ uri }: Channel): void {
    this.#dropped.delete(uri)
    this.staged.delete(uri)
  }

  /** Returns a channel from memory, or loads it; undefined if there is none. Concurrent calls share one load. */
  async wake(uri: Uri): Promise<Channel | undefined> {
    const awake = this.#awake.get(uri)
    if (awake || this.#dropped.has(uri)) return awake
    const waking = this.#waking.get(uri) ?? this.#load(uri).finally(() => this.#waking.delete(uri))
    this.#waking.set(uri, waking)
    return waking
  }

  /** Loads a channel that is still being written part by part. It stays hidden from everyone else. */
  async loadStaged(uri: Uri): Promise<Channel | undefined> {
    const build = await loadChannel(this.#store, uri, this.#tail)
    return build?.(this.#queue.committedSeq)
  }

  async #load(uri: Uri): Promise<Channel | undefined> {
    const build = await loadChannel(this.#store, uri, this.#tail)
    // The channel may have been created while the store was read.
    const meanwhile = this.#awake.get(uri)
    if (meanwhile || !build || this.#dropped.has(uri) || this.staged.has(uri)) return meanwhile
    const channel = build(this.#queue.committedSeq)
    this.#awake.set(uri, channel)
    return channel
  }
}
