import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { World } from '../ports/world.ts'
import type { AwakeChannels } from './awake-channels.ts'
import type { DeliveryQueue, QueuedEntry } from './delivery-queue.ts'
import { creation, removal } from './entry.ts'
import type { LogEvents } from './options.ts'

interface DeliveryParts {
  readonly queue: DeliveryQueue
  readonly channels: AwakeChannels
  readonly world: World
  readonly events: LogEvents
}

/** Delivery: commits the queued entries in order, sends each to the listeners of its channel, and reports it to the host. */
export class Delivery {
  readonly #queue: DeliveryQueue
  readonly #world: World
  readonly #events: LogEvents
  readonly #channels: AwakeChannels

  constructor({ queue, channels, world, events }: DeliveryParts) {
    this.#queue = queue
    this.#world = world
    this.#events = events
    this.#channels = channels
  }

  /** Delivers every entry that need not wait for the disk. `last`: the last number assigned so far. */
  deliver(durable: number, last: number): void {
    this.#queue.deliver(durable, last, (queued) => this.#deliverOne(queued))
  }

  #deliverOne({ entry, channel, state, olderRows, sender }: QueuedEntry): void {
    // An entry for one listener changes no state.
    if (entry.only) return this.#attempt(() => entry.only?.deliver(entry))
    // The queue holds states of all kinds; this one was the head of this channel.
    channel.commit(state as StateOf<KindName>, olderRows)
    if (entry.action === creation) return
    if (entry.action === removal) {
      channel.listeners.clear()
      this.#channels.removed(channel)
      return
    }
    for (const listener of channel.listeners) this.#attempt(() => listener.deliver(entry))
    // A client that dispatches without a subscription still gets the echo.
    if (sender && !channel.listeners.has(sender)) this.#attempt(() => sender.deliver(entry))
    this.#attempt(() => this.#events.committed(channel, entry))
  }

  /** Runs a task whose failure must not keep the entry from the other listeners. */
  #attempt(task: () => void): void {
    try {
      task()
    } catch (error) {
      this.#world.report('delivery failed', error)
    }
  }
}
