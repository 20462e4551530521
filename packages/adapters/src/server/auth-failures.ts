import { limits } from '@atrium/protocol/limits'

interface FailureLimits {
  /** Number of failures that one address may have in a window. */
  readonly perAddress: number
  /** Number of failures that all addresses together may have in a window. */
  readonly total: number
  readonly windowMs: number
  /**
   * The longest time a client is told to wait. The wait doubles with each window whose limit is exceeded, up to this
   * time.
   */
  readonly maxWaitMs: number
  /** Number of addresses that are remembered. */
  readonly addresses: number
}

/** The limits for failed attempts to connect (S-06). */
export const failureLimits: FailureLimits = {
  perAddress: limits.failures,
  total: limits.failuresOfAll,
  windowMs: limits.failureMs,
  maxWaitMs: limits.failureWaitMs,
  addresses: limits.failureAddresses,
}

/** The answer to one more failure. */
interface Verdict {
  /** The time the client is told to wait; 0 while it may try again. */
  readonly waitMs: number
  /** Whether this failure is the first one over a limit. Only the first one is logged. */
  readonly limitReached: boolean
}

/**
 * Failed attempts to connect, by address and in total. Only failures are limited. A right token is accepted whatever
 * failed before from the same address; otherwise any program on this machine could lock out its owner.
 */
export class AuthFailures {
  readonly #limits: FailureLimits
  readonly #now: () => number
  readonly #total: Attempts = { count: 0, until: 0, rounds: 0 }
  readonly #byAddress = new Map<string, Attempts>()

  constructor(failureLimits: FailureLimits, now: () => number) {
    this.#limits = failureLimits
    this.#now = now
  }

  record(address: string): Verdict {
    const one = this.#count(this.#attemptsOf(address), this.#limits.perAddress)
    const all = this.#count(this.#total, this.#limits.total)
    return {
      waitMs: Math.max(one.waitMs, all.waitMs),
      limitReached: one.limitReached || all.limitReached,
    }
  }

  /** The number of addresses that are remembered. */
  get size(): number {
    return this.#byAddress.size
  }

  /** Moves the address to the end of the map, and forgets the address with the oldest failure if there are too many. */
  #attemptsOf(address: string): Attempts {
    const attempts = this.#byAddress.get(address) ?? { count: 0, until: 0, rounds: 0 }
    this.#byAddress.delete(address)
    const [oldest] = this.#byAddress.size >= this.#limits.addresses ? this.#byAddress.keys() : []
    if (oldest !== undefined) this.#byAddress.delete(oldest)
    this.#byAddress.set(address, attempts)
    return attempts
  }

  #count(attempts: Attempts, max: number): Verdict {
    const { windowMs, maxWaitMs } = this.#limits
    const now = this.#now()
    if (now >= attempts.until) {
      // The wait is short again after a window that stayed within the limit, and after a quiet time of `maxWaitMs`.
      if (attempts.count <= max || now >= attempts.until + maxWaitMs) attempts.rounds = 0
      attempts.count = 0
      attempts.until = now + windowMs
    }
    attempts.count++
    if (attempts.count <= max) return { waitMs: 0, limitReached: false }
    const limitReached = attempts.count === max + 1
    if (limitReached) attempts.until = now + Math.min(windowMs * 2 ** attempts.rounds++, maxWaitMs)
    return { waitMs: attempts.until - now, limitReached }
  }
}

interface Attempts {
  count: number
  /** The end of the present window, or of the present wait. */
  until: number
  /** Number of waits so far; each doubles the next one. */
  rounds: number
}
