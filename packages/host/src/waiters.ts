interface Waiter {
  readonly done: () => boolean
  readonly resolve: () => void
}

/** Those who wait until something is so. Whoever changes things says so, and all look again. */
export class Waiters {
  readonly #waiting = new Set<Waiter>()

  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.add({ done, resolve }))
  }

  look(): void {
    for (const waiter of this.#waiting) {
      if (!waiter.done()) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }
}
