/**
 * What one client asks and dispatches, one after the other. A task that must wait for the disk holds up those behind
 * it; one that need not runs at once, in the caller's step.
 */
export class Line {
  readonly #waiting: (() => void)[] = []
  #busy = false
  #holds = 0

  run<T>(task: () => T | Promise<T>): T | Promise<T> {
    if (this.#free) return this.#start(task)
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(this.#start(task))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
  }

  /** An answer is on its way: until the end that is given back is called, nothing goes before it. */
  hold(): () => void {
    this.#holds++
    return () => {
      this.#holds--
      this.#next()
    }
  }

  /** What has not begun never will. */
  clear(): void {
    this.#waiting.length = 0
  }

  #start<T>(task: () => T | Promise<T>): T | Promise<T> {
    const result = task()
    if (!(result instanceof Promise)) return result
    this.#busy = true
    return result.finally(() => {
      this.#busy = false
      this.#next()
    })
  }

  get #free(): boolean {
    return !this.#busy && this.#holds === 0
  }

  #next(): void {
    while (this.#free) {
      const next = this.#waiting.shift()
      if (!next) return
      next()
    }
  }
}
