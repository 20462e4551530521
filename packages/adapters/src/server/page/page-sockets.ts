import type { Duplex } from 'node:stream'
import { limits } from '@atrium/protocol/limits'

export interface PageSocketLimits {
  /** The maximum number of sockets that receive an answer at the same time. */
  readonly max: number
  /** The maximum time for one answer, in milliseconds. */
  readonly ms: number
}

/** The limits for sockets that are answered with files (G11). */
export const pageSocketLimits: PageSocketLimits = { max: limits.pageSockets, ms: limits.pageMs }

/**
 * The sockets that are being answered with files of the page. A slow reader may need longer than the time limit of a
 * pending upgrade, so these sockets have limits of their own: for their number, and for the time of an answer.
 */
export class PageSockets {
  readonly #limits: PageSocketLimits
  readonly #timers = new Map<Duplex, NodeJS.Timeout>()

  constructor(socketLimits: PageSocketLimits) {
    this.#limits = socketLimits
  }

  /** Adds a socket, which is destroyed if its answer takes too long. Returns false if there are too many sockets. */
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
