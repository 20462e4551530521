import type { EffectTimer } from '@atrium/host/ports/effect-timer'

/** The watchdog process as its counts see it. */
interface CountingProcess {
  /** Starts the process if it does not run. */
  wake(): void
  send(line: string): void
}

interface Mark {
  readonly number: number
  readonly at: number
}

/**
 * The counts of the watchdog process for the lease of the host. A count begins in that process when it reads a mark, and the
 * host requests the lease after the process has answered the mark. So the count ends before the lease does, even if the host
 * is stopped at any point in between.
 */
export class LeaseCounts implements EffectTimer {
  readonly #ms: number
  readonly #process: CountingProcess
  #last = 0
  #waiting: { readonly mark: Mark; readonly settle: (error?: Error) => void } | undefined
  #newest: Mark | undefined
  /** The mark whose count ends the processes, unless a later one is confirmed. */
  #confirmed: Mark | undefined
  /** Whether all processes must end, because the lease is lost. */
  #expired = false

  constructor(ms: number, counting: CountingProcess) {
    this.#ms = ms
    this.#process = counting
  }

  /** Whether a count runs, or processes are being ended, which must go on in a new process if this one is killed. */
  get isRunning(): boolean {
    return this.#confirmed !== undefined || this.#expired
  }

  /**
   * Throws if the count of the last confirmed mark is over. A host that was stopped may go on with the start of a process, before
   * it notices anything.
   */
  check(): void {
    if (!this.#confirmed || performance.now() >= this.#confirmed.at + this.#ms)
      throw new Error('this node has not renewed its lease in time, so it starts nothing')
  }

  mark(): Promise<number> {
    this.#waiting?.settle(new Error('a later mark was made'))
    this.#process.wake()
    const mark = this.#send(this.#ms)
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        this.#waiting = undefined
        if (error) return reject(error)
        this.#newest = mark
        resolve(mark.number)
      }
      this.#waiting = { mark, settle }
    })
  }

  confirm(mark: number): void {
    if (this.#newest?.number !== mark) return
    this.#confirmed = this.#newest
    this.#expired = false
    this.#process.send(`=${mark}`)
  }

  expire(): void {
    this.#confirmed = undefined
    this.#expired = true
    this.#process.send('!')
  }

  stop(): void {
    this.#confirmed = undefined
    this.#expired = false
    this.#process.send('.')
  }

  answered(mark: string): void {
    if (this.#waiting && mark === String(this.#waiting.mark.number)) this.#waiting.settle()
  }

  /** Fails the mark that waits, because its count has ended with the process. */
  ended(): void {
    this.#newest = undefined
    this.#waiting?.settle(new Error('the watchdog has ended'))
  }

  /** Continues the count of the last confirmed mark in a new process, or goes on ending processes there. */
  restarted(): void {
    if (this.#expired) this.#process.send('!')
    if (!this.#confirmed) return
    const { at } = this.#confirmed
    const { number } = this.#send(Math.max(0, at + this.#ms - performance.now()))
    this.#process.send(`=${number}`)
    this.#confirmed = { number, at }
  }

  #send(ms: number): Mark {
    const mark = { number: ++this.#last, at: performance.now() }
    this.#process.send(`?${mark.number} ${(ms / 1000).toFixed(3)}`)
    return mark
  }
}
