/**
 * The requests and dispatches of one client, run one after the other. A task that waits for the disk delays the tasks
 * behind it. If no task runs or waits, a new task begins at once, before `run` returns.
 */
export class RequestQueue {
  #waiting: Waiting[] = []
  /** The index of the first waiting task. To increment an index is cheap; to remove the first item of a long array is not. */
  #first = 0
  #length = 0
  #busy = false
  #holds = 0
  readonly #emptied: () => void

  /**
   * `emptied` is called when the queue could begin a task and none waits: after the end of the last task, or of the
   * last `hold`.
   */
  constructor(emptied: () => void = () => {}) {
    this.#emptied = emptied
  }

  /** The cost of the waiting tasks: the lengths of their frames, and a constant for each task. */
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

  /** Holds all tasks until the returned function is called, so that no task runs before a pending response is sent. */
  hold(): () => void {
    this.#holds++
    return () => {
      this.#holds--
      this.#next()
    }
  }

  /** Drops the tasks that have not begun. */
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
      if (!next) return this.#emptied()
      next.begin()
    }
  }

  #take(): Waiting | undefined {
    const next = this.#waiting[this.#first++]
    if (!next) this.clear()
    else this.#length -= next.cost
    // The array is shortened only when more than half of its tasks have begun.
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

/** The constant cost of a waiting task in addition to the length of its frame, so that many short tasks count, too. */
const taskLength = 512
