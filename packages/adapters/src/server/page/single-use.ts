import { createHash, randomBytes } from 'node:crypto'

interface Options {
  /** Number of secrets that are kept. A further one takes the place of the oldest. */
  readonly max: number
  readonly ms: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

interface Kept<T> {
  readonly value: T
  readonly until: number
}

/** Random secrets that can be used once, within a time. They are kept in memory only, and only as digests. */
export class SingleUse<T> {
  readonly #options: Options
  readonly #kept = new Map<string, Kept<T>>()

  constructor(options: Options) {
    this.#options = options
  }

  issue(value: T): string {
    const { max, ms, now } = this.#options
    const [oldest] = this.#kept.size >= max ? this.#kept.keys() : []
    if (oldest !== undefined) this.#kept.delete(oldest)
    const secret = randomBytes(32).toString('base64url')
    this.#kept.set(digest(secret), { value, until: now() + ms })
    return secret
  }

  /** Returns the value of a secret and forgets the secret. Undefined if it was used, is too old, or never existed. */
  take(secret: string): T | undefined {
    const key = digest(secret)
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    return kept !== undefined && this.#options.now() < kept.until ? kept.value : undefined
  }
}

/** Returns the digest by which a secret is looked up. The time of such a lookup tells nothing about the secret. */
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64')
}
