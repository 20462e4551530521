import type { World } from '@atrium/host/ports/world'

/** A process without a running turn, which can be ended because its agent can restore its sessions later. */
export interface IdleProcess {
  end(): Promise<void>
}

export interface IdleLimits {
  /** How long a process may be idle, in ms. */
  readonly idleMs: number
  /** The maximum number of idle processes of all agents. */
  readonly most: number
}

/** The idle processes of all agents. Ends each after some time. If there are too many, ends those that were used least recently. */
export class IdleProcesses {
  readonly #later: World['later']
  readonly #limits: IdleLimits
  /** Functions that cancel the timers, by process. The process that was used least recently comes first. */
  readonly #timers = new Map<IdleProcess, () => void>()

  constructor(later: World['later'], limits: IdleLimits = defaultLimits) {
    this.#later = later
    this.#limits = limits
  }

  add(process: IdleProcess): void {
    this.remove(process)
    this.#timers.set(
      process,
      this.#later(this.#limits.idleMs, () => this.#end(process)),
    )
    const [oldest] = this.#timers.keys()
    if (oldest && this.#timers.size > this.#limits.most) this.#end(oldest)
  }

  /** Stops counting a process as idle, because it is used again or has ended. */
  remove(process: IdleProcess): void {
    this.#timers.get(process)?.()
    this.#timers.delete(process)
  }

  #end(process: IdleProcess): void {
    this.remove(process)
    void process.end()
  }
}

export const defaultLimits: IdleLimits = { idleMs: 5 * 60_000, most: 4 }
