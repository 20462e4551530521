/** Those who want to know. One that throws hurts no other. */
export class Listeners<A extends readonly unknown[]> {
  readonly #all = new Set<(...args: A) => void>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** What comes back ends it. The same function twice is told twice. */
  add(listener: (...args: A) => void): () => void {
    const own = (...args: A) => listener(...args)
    this.#all.add(own)
    return () => void this.#all.delete(own)
  }

  notify(...args: A): void {
    // Whoever joins meanwhile is told of the next.
    for (const listener of Array.from(this.#all)) {
      try {
        listener(...args)
      } catch (error) {
        this.#report(error)
      }
    }
  }
}
