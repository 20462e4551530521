/** A set of listeners. An exception in one is reported, and the others are still called. */
export class Listeners<A extends readonly unknown[]> {
  readonly #all = new Set<(...args: A) => void>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Returns a function that removes the listener. A function added twice is called twice. */
  add(listener: (...args: A) => void): () => void {
    const own = (...args: A) => listener(...args)
    this.#all.add(own)
    return () => void this.#all.delete(own)
  }

  notify(...args: A): void {
    // A copy: a listener that is added meanwhile is called from the next time on.
    for (const listener of Array.from(this.#all)) {
      try {
        listener(...args)
      } catch (error) {
        this.#report(error)
      }
    }
  }
}
