import { limits } from '@atrium/protocol/limits'

interface FailureLimits {
  /** In a window, by one address and by all together. */
  readonly each: number
  readonly all: number
  readonly windowMs: number
  /** Whoever goes on is told to stay away for a time that doubles, up to this. */
  readonly waitMs: number
  readonly addresses: number
}

/** S-06. */
export const failureLimits: FailureLimits = {
  each: limits.failures,
  all: limits.failuresOfAll,
  windowMs: limits.failureMs,
  waitMs: limits.failureWaitMs,
  addresses: limits.failureAddresses,
}

/** How one who failed once more is treated. */
interface Treatment {
  /** For how long it should stay away, in milliseconds; 0 while it may try again. */
  readonly wait: number
  /** It has just become so: worth a line in the log. */
  readonly news: boolean
}

/**
 * Failed tries to come in, by address and in all. It judges failures alone: a right token is let in whatever came before
 * it from the same address, or anybody on this machine could lock its owner out.
 */
export class Failures {
  readonly #limits: FailureLimits
  readonly #now: () => number
  readonly #all: Tries = { count: 0, until: 0, rounds: 0 }
  readonly #each = new Map<string, Tries>()

  constructor(limited: FailureLimits, now: () => number) {
    this.#limits = limited
    this.#now = now
  }

  add(address: string): Treatment {
    const tries = this.#of(address)
    const one = this.#judge(tries, this.#limits.each)
    const all = this.#judge(this.#all, this.#limits.all)
    return { wait: Math.max(one.wait, all.wait), news: one.news || all.news }
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#each.size
  }

  /** The one silent longest is the first to be forgotten. */
  #of(address: string): Tries {
    const tries = this.#each.get(address) ?? { count: 0, until: 0, rounds: 0 }
    this.#each.delete(address)
    const [oldest] = this.#each.size >= this.#limits.addresses ? this.#each.keys() : []
    if (oldest !== undefined) this.#each.delete(oldest)
    this.#each.set(address, tries)
    return tries
  }

  #judge(tries: Tries, most: number): Treatment {
    const { windowMs, waitMs } = this.#limits
    const now = this.#now()
    if (now >= tries.until) {
      // Who was quiet for as long as anybody is ever kept waiting begins anew.
      if (tries.count <= most || now >= tries.until + waitMs) tries.rounds = 0
      tries.count = 0
      tries.until = now + windowMs
    }
    tries.count++
    if (tries.count <= most) return { wait: 0, news: false }
    const news = tries.count === most + 1
    if (news) tries.until = now + Math.min(windowMs * 2 ** tries.rounds++, waitMs)
    return { wait: tries.until - now, news }
  }
}

interface Tries {
  count: number
  /** The end of its window, or of its waiting. */
  until: number
  /** How often it has been told to wait. */
  rounds: number
}
