import type { Chance } from '../chance.ts'
import type { Clock } from '../simulate/world.ts'

/** The error of a request whose outcome nobody knows: the connection was cut before the answer came. */
export class Unknown extends Error {
  override readonly name = 'Unknown'
}

/** The longest time that a request waits for a database that cannot be reached. */
const timeoutMs = 4000

/** The connection of one node to the database. Requests and answers take time, and may be lost. */
export class Network {
  readonly #clock: Clock
  readonly #chance: Chance
  /** Runs a task of the node, at once or, if the node is paused, when it goes on. */
  readonly #atNode: (task: () => void) => void
  /** Set: nothing gets through in either direction. */
  cut = false
  /** The number of answers that are lost from now on, after the database has done what was asked. */
  losing = 0

  constructor(clock: Clock, chance: Chance, atNode: (task: () => void) => void) {
    this.#clock = clock
    this.#chance = chance
    this.#atNode = atNode
  }

  /**
   * Sends a request. The database serves it later, and the answer arrives later still. A request with `begin` is a transaction: it
   * begins when its first part arrives, and is served when its last part arrives, for which the node must run.
   */
  request<T>(serve: () => Promise<T>, begin?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let done = false
      const settle = (task: () => void) =>
        this.#atNode(() => {
          if (done) return
          done = true
          task()
        })
      this.#clock.later(timeoutMs, () => settle(() => reject(new Unknown('no answer of the database'))))
      this.#clock.later(this.#chance.between(1, 40), () => {
        if (this.cut) return
        const serveIt = () => {
          if (this.cut || done) return
          const answer = serve()
          answer.catch(() => {})
          const lost = this.losing > 0 && this.losing-- > 0
          if (lost) return settle(() => reject(new Unknown('the connection was cut')))
          this.#clock.later(this.#chance.between(1, 40), () => {
            if (!this.cut) settle(() => void answer.then(resolve, reject))
          })
        }
        if (!begin) return serveIt()
        begin()
        this.#atNode(() => void this.#clock.later(this.#chance.between(1, 60), serveIt))
      })
    })
  }
}
