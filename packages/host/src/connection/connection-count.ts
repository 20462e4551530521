/** How many links each principal has (S-23). */
export class ConnectionCount {
  readonly #most: number
  readonly #links = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Counts a link until it has ended; false where its principal has too many. */
  enter(principal: string, closed: AbortSignal): boolean {
    const there = this.of(principal)
    if (there >= this.#most) return false
    this.#links.set(principal, there + 1)
    closed.addEventListener('abort', () => this.#leave(principal), { once: true })
    return true
  }

  of(principal: string): number {
    return this.#links.get(principal) ?? 0
  }

  /** Of how many principals there are links. */
  get size(): number {
    return this.#links.size
  }

  #leave(principal: string): void {
    const left = this.of(principal) - 1
    if (left > 0) this.#links.set(principal, left)
    else this.#links.delete(principal)
  }
}
