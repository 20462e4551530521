import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { World } from '../../ports/world.ts'
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

  /**
   * Delivers every entry that need not wait for the disk. `durable`: the last sequence number on the disk. `last`:
   * the last sequence number that was assigned.
   */
  deliver(durable: number, last: number): void {
    this.#queue.deliver(durable, last, (queued) => this.#deliverOne(queued))
  }

  #deliverOne({ entry, channel, state, olderRows, sender }: QueuedEntry): void {
    // An entry for a single listener changes no state.
    if (entry.only) return this.#attempt(() => entry.only?.deliver(entry))
    // The casts are safe: this state was the head of this channel. The queue contains states of all kinds.
    if (channel.committed && comparedKinds.has(channel.kindName))
      entry.states = { before: channel.committed, after: state as StateOf<KindName> }
    channel.commit(state as StateOf<KindName>, olderRows)
    if (entry.action === creation) return
    if (entry.action === removal) {
      channel.listeners.clear()
      this.#channels.removed(channel)
      return
    }
    for (const listener of channel.listeners) this.#attempt(() => listener.deliver(entry))
    // A client that dispatches without a subscription still gets the echo of its action.
    if (sender && !channel.listeners.has(sender)) this.#attempt(() => sender.deliver(entry))
    this.#attempt(() => this.#events.committed(channel, entry))
  }

  /** Runs a task. If it fails, the entry must still reach the other listeners. */
  #attempt(task: () => void): void {
    try {
      task()
    } catch (error) {
      this.#world.report('delivery failed', error)
    }
  }
}

/**
 * The kinds whose entries carry the states before and after them. In older protocol versions, the form of some
 * actions of these kinds depends on the states.
 */
const comparedKinds: ReadonlySet<KindName> = new Set(['session', 'changeset', 'annotations'])
