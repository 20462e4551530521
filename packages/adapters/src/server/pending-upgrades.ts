import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { limits } from '@atrium/protocol/limits'

export interface PendingUpgradeLimits {
  /** Number of pending sockets at which a new socket destroys the oldest one, if that is at least `minAgeMs` old. */
  readonly softLimit: number
  /** Number of pending sockets at which a new socket destroys the oldest one, however young that is. */
  readonly hardLimit: number
  readonly minAgeMs: number
  /** The maximum time for TLS handshake, request head and response together. */
  readonly timeoutMs: number
}

/** The limits for sockets that are not yet WebSockets (S-07). */
export const pendingUpgradeLimits: PendingUpgradeLimits = {
  softLimit: limits.lobbySockets,
  hardLimit: limits.lobbyCrowd,
  minAgeMs: limits.lobbyMomentMs,
  timeoutMs: limits.upgradeMs,
}

interface PendingSocket {
  readonly socket: Socket
  readonly timer: NodeJS.Timeout
  readonly since: number
}

/**
 * Sockets that were accepted and are not yet WebSockets. Their clients are not authenticated, so number and time are
 * bounded.
 */
export class PendingUpgrades {
  readonly #limits: PendingUpgradeLimits
  readonly #sockets = new Map<Duplex, PendingSocket>()
  #closed = false

  constructor(upgradeLimits: PendingUpgradeLimits) {
    this.#limits = upgradeLimits
  }

  get size(): number {
    return this.#sockets.size
  }

  /** Adds an accepted socket. `stream` is what the HTTP server reads: the socket itself, or the TLS stream on it. */
  add(socket: Socket, stream: Duplex): void {
    socket.once('close', () => this.remove(stream))
    this.#insert(socket, stream)
  }

  #insert(socket: Socket, stream: Duplex): void {
    const { softLimit, hardLimit, minAgeMs, timeoutMs } = this.#limits
    const now = performance.now()
    // At the limit, the oldest pending socket is destroyed, not the newest. An honest client completes its upgrade within
    // milliseconds, so idle sockets cannot lock it out. At the soft limit, a socket is destroyed only after a minimum age. This
    // protects the clients of a restarted host, which all connect at once.
    const [oldest] = this.size >= softLimit ? this.#sockets : []
    if (oldest && (this.size >= hardLimit || now - oldest[1].since >= minAgeMs)) {
      this.remove(oldest[0])
      oldest[1].socket.destroy()
    }
    const timer = setTimeout(() => socket.destroy(), timeoutMs)
    this.#sockets.set(stream, { socket, timer, since: now })
  }

  /**
   * Ends the time limit of a socket while the host answers it with a file. The returned function begins a new one: the
   * socket waits for its next request as a new socket does.
   */
  suspend(stream: Duplex): () => void {
    const entry = this.#sockets.get(stream)
    this.remove(stream)
    return () => {
      if (!entry || entry.socket.destroyed) return
      if (this.#closed) entry.socket.destroy()
      else this.#insert(entry.socket, stream)
    }
  }

  /** Ends the time limit of a socket: it was closed, or is a WebSocket now. */
  remove(stream: Duplex): void {
    clearTimeout(this.#sockets.get(stream)?.timer)
    this.#sockets.delete(stream)
  }

  destroyAll(): void {
    this.#closed = true
    for (const { socket } of this.#sockets.values()) socket.destroy()
  }
}
