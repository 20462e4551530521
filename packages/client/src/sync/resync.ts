import type { Channel } from './channel.ts'
import type { World } from '../shared/world.ts'

/** A channel is asked for again at most so often, whatever its host says. */
const everyMs = 1_000

/** Channels that were wrong, and are asked for again. */
export class Resync {
  readonly #world: World
  readonly #ask: (channel: Channel) => void
  /** Asked for a moment ago: whether it was wrong once more since then. */
  readonly #lately = new Map<Channel, boolean>()

  constructor(world: World, ask: (channel: Channel) => void) {
    this.#world = world
    this.#ask = ask
  }

  /** Now, or when the moment since the last time is over. */
  heal(channel: Channel): void {
    if (this.#lately.has(channel)) return void this.#lately.set(channel, true)
    this.#lately.set(channel, false)
    this.#world.after(everyMs, () => {
      const again = this.#lately.get(channel)
      this.#lately.delete(channel)
      if (again && channel.status === 'stale') this.heal(channel)
    })
    this.#ask(channel)
  }
}
