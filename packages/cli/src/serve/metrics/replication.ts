import type { Replica } from '@atrium/adapters/store/postgres/lease'
import type { World } from '@atrium/host/ports/world'

/** The milliseconds between two looks. */
const pause = 15_000

/** Undefined: the user of the database may not see them. */
type Read = () => Promise<readonly Replica[] | undefined>

/**
 * Looks from time to time at the servers that copy the database, beside all other work: `/metrics` shows the last look, and waits
 * for nothing.
 */
export class ReplicationReader {
  readonly #world: World
  #latest: readonly Replica[] | undefined
  /** The number of the present owner. A look for an earlier one is ignored. */
  #term = 0
  #cancel = () => {}

  constructor(world: World) {
    this.#world = world
  }

  /** The servers at the last look. Undefined if it has failed, and if the user may not see them. */
  get latest(): readonly Replica[] | undefined {
    return this.#latest
  }

  start(read: Read): void {
    this.stop()
    void this.#look(read, this.#term)
  }

  stop(): void {
    this.#term++
    this.#cancel()
    this.#latest = undefined
  }

  async #look(read: Read, term: number): Promise<void> {
    const found = await read().catch(() => undefined)
    if (term !== this.#term) return
    this.#latest = found
    this.#cancel = this.#world.later(pause, () => void this.#look(read, term))
  }
}
