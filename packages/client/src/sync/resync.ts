import type { Channel } from './channel.ts'
import type { World } from '../shared/world.ts'

/** Minimum time between two snapshot requests for the same channel, however often it becomes invalid. */
const everyMs = 1_000

/** Requests new snapshots of invalid channels, at a limited rate. */
export class Resync {
  readonly #world: World
  readonly #ask: (channel: Channel) => void
  /**
   * The channels whose snapshot was requested within the last `everyMs`. The value is true if the channel became
   * invalid again since.
   */
  readonly #recent = new Map<Channel, boolean>()

  constructor(world: World, ask: (channel: Channel) => void) {
    this.#world = world
    this.#ask = ask
  }

  /** Requests a snapshot now, or when `everyMs` has passed since the last request. */
  heal(channel: Channel): void {
    if (this.#recent.has(channel)) return void this.#recent.set(channel, true)
    this.#recent.set(channel, false)
    this.#world.after(everyMs, () => {
      const again = this.#recent.get(channel)
      this.#recent.delete(channel)
      if (again && channel.status === 'stale') this.heal(channel)
    })
    this.#ask(channel)
  }
}
