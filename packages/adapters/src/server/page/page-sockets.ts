import type { Duplex } from 'node:stream'
import { limits } from '@atrium/protocol/limits'

export interface PageSocketLimits {
  /** Number of sockets that are answered at the same time. */
  readonly max: number
  /** The time for one answer. */
  readonly ms: number
}

/** G11. */
export const pageSocketLimits: PageSocketLimits = { max: limits.pageSockets, ms: limits.pageMs }

/**
 * The sockets that are being answered with files. They are not pending upgrades: a slow reader may take longer, but only
 * so many of them, and only so long.
 */
export class PageSockets {
  readonly #limits: PageSocketLimits
  readonly #timers = new Map<Duplex, NodeJS.Timeout>()

  constructor(socketLimits: PageSocketLimits) {
    this.#limits = socketLimits
  }

  /** Returns whether the socket may be answered now. */
  add(socket: Duplex): boolean {
    if (this.#timers.has(socket)) return true
    if (this.#timers.size >= this.#limits.max) return false
    this.#timers.set(
      socket,
      setTimeout(() => socket.destroy(), this.#limits.ms),
    )
    return true
  }

  remove(socket: Duplex): void {
    clearTimeout(this.#timers.get(socket))
    this.#timers.delete(socket)
  }

  destroyAll(): void {
    for (const socket of this.#timers.keys()) socket.destroy()
  }
}
