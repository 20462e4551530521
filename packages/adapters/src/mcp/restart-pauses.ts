import type { World } from '@atrium/host/ports/world'
import { pause } from '../process/pause.ts'
import type { McpLimits } from './context.ts'

/** The pauses before the restarts of a server that crashes. They double, and their number is limited. */
export class RestartPauses {
  readonly #later: World['later']
  readonly #limits: McpLimits
  #count = 0
  #hurry = new AbortController()
  #cancelSteady = () => {}

  constructor(later: World['later'], limits: McpLimits) {
    this.#later = later
    this.#limits = limits
  }

  get isExhausted(): boolean {
    return this.#count >= this.#limits.mcpRestarts
  }

  /**
   * Begins a series of restarts. Returns a signal, which is aborted when a caller does not want to wait for the
   * pauses.
   */
  begin(): AbortSignal {
    this.#hurry = new AbortController()
    return this.#hurry.signal
  }

  next(signal: AbortSignal): Promise<void> {
    return pause(this.#later, firstMs * 2 ** this.#count++, signal)
  }

  /** Ends the current pause. If the next attempt fails, the series of restarts ends. */
  hurry(): void {
    this.#hurry.abort()
  }

  /**
   * Starts a timer when the server is ready. If the server does not crash until the timer ends, earlier restarts no
   * longer count.
   */
  awaitSteady(): void {
    this.#cancelSteady = this.#later(this.#limits.mcpSteadyMs, () => this.reset())
  }

  /** Stops the timer of `awaitSteady` when the server is no longer ready. */
  stopWaiting(): void {
    this.#cancelSteady()
  }

  reset(): void {
    this.#count = 0
  }
}

const firstMs = 500
