import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { clientLimits } from '@atrium/protocol/rpc/frame-check'
import { Peer } from '@atrium/protocol/rpc/peer'
import type { Receiver } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { rootUri } from '@atrium/protocol/uri'
import { messageOf } from '../shared/errors.ts'
import type { World } from '../shared/world.ts'

/**
 * `connecting`: there was no link yet. `live`: the shown states are up to date. `stale`: they may be outdated, because the
 * link is lost and being opened again, or silent for too long. `closed`: the link will not be opened again.
 */
export type LinkState = 'connecting' | 'live' | 'stale' | 'closed'

export interface LinkStatus {
  readonly state: LinkState
  /** The reason why the link is not live, if there is one. */
  readonly reason?: string
  /** Number of failed attempts since the link was live. */
  readonly failures: number
  /** Time until the next attempt. */
  readonly retryInMs?: number
}

/** Thrown by `open` if another attempt cannot succeed. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

export interface LinkOptions {
  readonly open: () => Transport | Promise<Transport>
  /**
   * Runs the handshake. It must call `opened` while it processes the response, before any later frame is read. An
   * exception ends the attempt.
   */
  readonly handshake: (peer: Peer, opened: () => void) => Promise<void>
  readonly receiver: Receiver
  readonly world: World
  readonly changed: () => void
  readonly report: (problem: unknown) => void
  /** Called when a link is lost, before `changed`. */
  readonly cut: () => void
  /** The longest delay before an attempt; 30 s if absent. */
  readonly longestRetryMs?: number | undefined
}

/** Silence after which a ping is sent. */
const pingAfterMs = 5_000
/**
 * Times after a ping without any received frame: the link is stale after `staleAfterMs`, and lost after
 * `lostAfterMs`.
 */
const staleAfterMs = 5_000
const lostAfterMs = 20_000
const firstRetryMs = 250
const usualLongestRetryMs = 30_000

/** Keeps one link: opens it, runs the handshake, watches for silence, and opens it again when it is lost. */
export class Reconnect {
  readonly #options: LinkOptions
  readonly #timers = new Set<() => void>()
  #status: LinkStatus = { state: 'connecting', failures: 0 }
  /** The number of the current attempt. Results of earlier attempts are ignored. */
  #attempt = 0
  #peer: Peer | undefined
  #handshakeDone = false
  #wasLive = false
  /** Whether a frame has come since the last check. */
  #frameCame = false

  constructor(options: LinkOptions) {
    this.#options = options
  }

  get status(): LinkStatus {
    return this.#status
  }

  /** The peer if the handshake is done and the link is not lost, otherwise undefined. */
  get live(): Peer | undefined {
    return this.#handshakeDone ? this.#peer : undefined
  }

  /** Tries again at once instead of waiting for the timer. */
  retry(): void {
    if (!this.#peer && this.#status.state !== 'closed') void this.#dial()
  }

  /**
   * Replaces the link by a new one at once. The old one may be dead without a sign of it, for example after the machine
   * has slept.
   */
  wake(): void {
    if (this.#status.state === 'closed') return
    void this.#dial()
    if (this.#status.state === 'live')
      this.#setStatus({ state: 'stale', reason: 'the link is being replaced', failures: 0 })
  }

  close(reason = 'this client was closed'): void {
    if (this.#status.state === 'closed') return
    this.#drop()
    this.#setStatus({ state: 'closed', reason, failures: 0 })
  }

  async #dial(): Promise<void> {
    this.#drop()
    const attempt = this.#attempt
    try {
      const transport = await this.#options.open()
      if (attempt !== this.#attempt) return transport.close(1000)
      const peer = this.#openPeer(transport, attempt)
      await this.#options.handshake(peer, () => this.#opened(attempt))
    } catch (error) {
      if (attempt !== this.#attempt) return
      if (isFinal(error)) this.close(messageOf(error))
      else this.#lost(messageOf(error))
    }
  }

  #openPeer(transport: Transport, attempt: number): Peer {
    const { receiver, report } = this.#options
    const watched = withFrameListener(transport, () => this.#frameReceived(attempt))
    const peer = new Peer(watched, receiver, { limits: clientLimits, report })
    this.#peer = peer
    transport.closed.addEventListener('abort', () => {
      if (attempt === this.#attempt) this.#lost(messageOf(transport.closed.reason))
    })
    // A handshake without a response is given up after the same time as a silent link.
    this.#after(lostAfterMs, () => {
      if (!this.#handshakeDone) this.#lost('no response to the handshake')
    })
    return peer
  }

  #opened(attempt: number): void {
    if (attempt !== this.#attempt) return
    this.#handshakeDone = true
    this.#wasLive = true
    this.#setStatus({ state: 'live', failures: 0 })
    this.#watch()
  }

  #frameReceived(attempt: number): void {
    if (attempt !== this.#attempt) return
    this.#frameCame = true
    if (!this.#handshakeDone || this.#status.state !== 'stale') return
    this.#cancelTimers()
    this.#setStatus({ state: 'live', failures: 0 })
    this.#watch()
  }

  /** Watches for silence. One timer per interval is cheaper than a new timer for every frame. */
  #watch(): void {
    this.#frameCame = false
    this.#after(pingAfterMs, () => (this.#frameCame ? this.#watch() : this.#ping()))
  }

  #ping(): void {
    this.#peer?.request('ping', { channel: rootUri }).catch(() => {})
    this.#after(staleAfterMs, () => {
      if (this.#frameCame) return this.#watch()
      this.#setStatus({ state: 'stale', reason: 'nothing was received for a while', failures: 0 })
      this.#after(lostAfterMs - staleAfterMs, () => this.#lost('nothing was received for too long'))
    })
  }

  #lost(reason: string): void {
    const failures = this.#status.failures + 1
    this.#drop()
    // Half of the delay is random, so that clients that were cut off together do not all come back at once.
    const { world, longestRetryMs = usualLongestRetryMs } = this.#options
    const longest = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10))
    const retryInMs = Math.round(longest * (0.5 + world.random() / 2))
    this.#after(retryInMs, () => void this.#dial())
    this.#setStatus({ state: this.#wasLive ? 'stale' : 'connecting', reason, failures, retryInMs })
  }

  /** Gives up the current attempt or link. */
  #drop(): void {
    this.#attempt++
    this.#cancelTimers()
    const peer = this.#peer
    this.#peer = undefined
    this.#handshakeDone = false
    if (!peer) return
    peer.close(1000)
    this.#options.cut()
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  #after(ms: number, task: () => void): void {
    const cancel = this.#options.world.after(ms, () => {
      this.#timers.delete(cancel)
      task()
    })
    this.#timers.add(cancel)
  }

  #setStatus(status: LinkStatus): void {
    this.#status = status
    this.#options.changed()
  }
}

/** Returns whether another attempt cannot succeed: there is no common version, or `open` has thrown `Refused`. */
function isFinal(error: unknown): boolean {
  if (error instanceof Refused) return true
  return error instanceof AhpError && error.code === errorCodes.UnsupportedProtocolVersion
}

/** Returns the transport with a listener that is called before every frame. */
function withFrameListener(transport: Transport, received: () => void): Transport {
  return {
    send: (frame) => transport.send(frame),
    receive: (listener) =>
      transport.receive((frame) => {
        received()
        listener(frame)
      }),
    close: (code, reason) => transport.close(code, reason),
    closed: transport.closed,
    get buffered() {
      return transport.buffered
    },
    drained: () => transport.drained(),
  }
}
