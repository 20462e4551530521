/** The number of connections of each principal (S-23). */
export class ConnectionCount {
  readonly #max: number
  readonly #connections = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** Counts a connection until it ends. Returns false if the principal already has too many connections. */
  enter(principal: string, closed: AbortSignal): boolean {
    const count = this.of(principal)
    if (count >= this.#max) return false
    this.#connections.set(principal, count + 1)
    closed.addEventListener('abort', () => this.#leave(principal), { once: true })
    return true
  }

  of(principal: string): number {
    return this.#connections.get(principal) ?? 0
  }

  /** The number of principals with a connection. */
  get size(): number {
    return this.#connections.size
  }

  #leave(principal: string): void {
    const left = this.of(principal) - 1
    if (left > 0) this.#connections.set(principal, left)
    else this.#connections.delete(principal)
  }
}
