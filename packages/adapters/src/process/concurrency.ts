/** Lets so many do something at once; others wait, the first first. */
export class Lanes {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #busy = 0

  constructor(most: number) {
    this.#most = most
  }

  async run<T>(act: () => Promise<T>): Promise<T> {
    // Whoever is done hands its lane on, so that nobody who comes just then takes it.
    if (this.#busy < this.#most) this.#busy++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await act()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#busy--
    }
  }
}
