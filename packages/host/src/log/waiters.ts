interface Waiter {
  readonly done: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Those who wait until something is so. Whoever changes things says so, and all look again. One whose look fails waits in
 * vain, and is told so; the others go on.
 */
export class Waiters {
  readonly #waiting = new Set<Waiter>()

  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiting.add({ done, resolve, reject }))
  }

  look(): void {
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
