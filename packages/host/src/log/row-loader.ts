import type { Channel } from './channel.ts'
import type { LogStore } from '../ports/log.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import { Damaged } from './rebuild.ts'
import { readRows } from './rows.ts'

/** Brings rows into memory that a channel was woken without. */
export class RowLoader {
  readonly #store: LogStore
  readonly #queue: DeliveryQueue
  readonly #awake: (channel: Channel) => boolean
  readonly #reading = new Map<Channel, Promise<void>>()

  constructor(store: LogStore, queue: DeliveryQueue, awake: (channel: Channel) => boolean) {
    this.#store = store
    this.#queue = queue
    this.#awake = awake
  }

  async load(channel: Channel, fromId?: string): Promise<void> {
    while (this.#awake(channel) && channel.missing(fromId).length > 0) {
      // Whoever comes meanwhile waits for what is being read, and then looks whether that was enough.
      const reading =
        this.#reading.get(channel) ?? this.#read(channel, fromId).finally(() => this.#reading.delete(channel))
      this.#reading.set(channel, reading)
      await reading
    }
  }

  async #read(channel: Channel, fromId: string | undefined): Promise<void> {
    const ids = channel.missing(fromId)
    const read = await readRows(this.#store, channel.uri, ids)
    // It may have gone, or its rows may have been taken away, all at once: else the same are missing as before.
    if (!this.#awake(channel) || channel.olderRows === 0) return
    const rows = ids.flatMap((id) => read.get(id) ?? [])
    if (rows.length < ids.length)
      throw new Damaged(`the stored history of ${channel.uri} is damaged: some of its rows are missing`)
    this.#queue.prepend(channel, channel.prepend(rows))
  }
}
