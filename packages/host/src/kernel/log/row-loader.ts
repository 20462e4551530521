import type { AwakeChannels } from './awake-channels.ts'
import type { Channel } from './channel.ts'
import type { LogStore } from '../../ports/log.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import { Damaged } from './rebuild.ts'
import { readRows } from './rows.ts'

/** Loads rows that were not loaded together with their channel, because they are old. */
export class RowLoader {
  readonly #store: LogStore
  readonly #queue: DeliveryQueue
  readonly #channels: AwakeChannels
  readonly #reading = new Map<Channel, Promise<void>>()

  constructor(store: LogStore, queue: DeliveryQueue, channels: AwakeChannels) {
    this.#store = store
    this.#queue = queue
    this.#channels = channels
  }

  /** Loads all rows of a channel that are not in memory, or those from `fromId` on. */
  async load(channel: Channel, fromId?: string): Promise<void> {
    while (this.#channels.holds(channel) && channel.missing(fromId).length > 0) {
      // A concurrent call waits for the running read. If that read did not load enough, the loop reads again.
      const reading =
        this.#reading.get(channel) ?? this.#read(channel, fromId).finally(() => this.#reading.delete(channel))
      this.#reading.set(channel, reading)
      await reading
    }
  }

  async #read(channel: Channel, fromId: string | undefined): Promise<void> {
    const ids = channel.missing(fromId)
    const read = await readRows(this.#store, channel.uri, ids)
    // If the channel has left memory during the read, or an action has removed all its rows, the rows that were read
    // are not needed. Other actions change only rows that are in memory, at the end of the list.
    if (!this.#channels.holds(channel) || channel.olderRows === 0) return
    const rows = ids.flatMap((id) => read.get(id) ?? [])
    if (rows.length < ids.length)
      throw new Damaged(`the stored history of ${channel.uri} is damaged: some of its rows are missing`)
    this.#queue.prepend(channel, channel.prepend(rows))
  }
}
