/**
 * What one client asks and dispatches, one after the other. A task that must wait for the disk holds up those behind
 * it; one that need not runs at once, in the caller's step.
 */
export class RequestQueue {
  #waiting: Waiting[] = []
  /** The first of those that wait: taking it off a long list would cost as much as the list is long. */
  #first = 0
  #length = 0
  #busy = false
  #holds = 0

  /** How much waits, in the characters it came in. */
  get length(): number {
    return this.#length
  }

  run<T>(task: () => T | Promise<T>, length = 0): T | Promise<T> {
    if (this.#free) return this.#start(task)
    const cost = length + taskLength
    this.#length += cost
    return new Promise<T>((resolve, reject) => {
      const begin = () => {
        try {
          resolve(this.#start(task))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      this.#waiting.push({ begin, cost })
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
    this.#waiting = []
    this.#first = 0
    this.#length = 0
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
      const next = this.#take()
      if (!next) return
      next.begin()
    }
  }

  #take(): Waiting | undefined {
    const next = this.#waiting[this.#first++]
    if (!next) this.clear()
    else this.#length -= next.cost
    // What has begun is let go a half at a time.
    if (this.#first > 1000 && this.#first > this.#waiting.length / 2) {
      this.#waiting = this.#waiting.slice(this.#first)
      this.#first = 0
    }
    return next
  }
}

interface Waiting {
  readonly begin: () => void
  readonly cost: number
}

/** What a task that waits costs beside its text, so that many short ones count too. */
const taskLength = 512
