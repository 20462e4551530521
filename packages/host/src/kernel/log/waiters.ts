interface Waiter {
  readonly done: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Promises that resolve when a condition holds. Code that changes the state calls `check`, which tests every condition. If a
 * condition throws, only its own promise is rejected.
 */
export class Waiters {
  readonly #waiting = new Set<Waiter>()

  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiting.add({ done, resolve, reject }))
  }

  check(): void {
    for (const waiter of this.#waiting) {
      try {
        if (!waiter.done()) continue
        waiter.resolve()
      } catch (error) {
        waiter.reject(error)
      }
      this.#waiting.delete(waiter)
    }
  }
}
