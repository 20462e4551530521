import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { clientLimits } from '@atrium/protocol/rpc/frame-check'
import { Peer } from '@atrium/protocol/rpc/peer'
import type { Receiver } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { rootUri } from '@atrium/protocol/uri'
import { messageOf } from '../shared/errors.ts'
import type { World } from '../shared/world.ts'

/**
 * connecting: there was no link yet. live: what is shown is what the host says. stale: it may be old, because the link is
 * gone and being made again, or nothing has come over it for too long. closed: it will not be made again.
 */
export type LinkState = 'connecting' | 'live' | 'stale' | 'closed'

export interface LinkStatus {
  readonly state: LinkState
  /** Why it is not live, where something went wrong. */
  readonly reason?: string
  /** How many attempts have failed since it was live; the next one comes in so many milliseconds. */
  readonly failures: number
  readonly retryInMs?: number
}

/** Thrown by whoever opens a transport: trying again is of no use. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

export interface LinkOptions {
  readonly open: () => Transport | Promise<Transport>
  /** The handshake. It says the moment it is answered, before any later frame; what it throws ends the attempt. */
  readonly handshake: (peer: Peer, opened: () => void) => Promise<void>
  readonly receiver: Receiver
  readonly world: World
  readonly changed: () => void
  readonly report: (problem: unknown) => void
  /** A link is gone, greeted or not; before anybody is told. */
  readonly cut: () => void
}

/** After so much silence the other side is asked whether it is there; without an answer one may doubt it, then be sure. */
const quietMs = 5_000
const doubtMs = 5_000
const deadMs = 20_000
const firstRetryMs = 250
const lastRetryMs = 30_000

/** Keeps one link: opens it, greets, listens whether it lives, and opens it again when it does not. */
export class Reconnect {
  readonly #options: LinkOptions
  readonly #timers = new Set<() => void>()
  #status: LinkStatus = { state: 'connecting', failures: 0 }
  /** What an earlier attempt still does is of no interest. */
  #attempt = 0
  #peer: Peer | undefined
  #greeted = false
  #wasLive = false
  /** Something came since somebody last looked. */
  #heard = false

  constructor(options: LinkOptions) {
    this.#options = options
  }

  get status(): LinkStatus {
    return this.#status
  }

  /** Whom to talk to, once it was greeted. */
  get live(): Peer | undefined {
    return this.#greeted ? this.#peer : undefined
  }

  /** Now, instead of when the time has come: the network is back, or somebody clicked. */
  retry(): void {
    if (!this.#peer && this.#status.state !== 'closed') void this.#dial()
  }

  close(reason = 'closed here'): void {
    if (this.#status.state === 'closed') return
    this.#drop()
    this.#say({ state: 'closed', reason, failures: 0 })
  }

  async #dial(): Promise<void> {
    this.#drop()
    const attempt = this.#attempt
    try {
      const transport = await this.#options.open()
      if (attempt !== this.#attempt) return transport.close(1000)
      const peer = this.#join(transport, attempt)
      await this.#options.handshake(peer, () => this.#opened(attempt))
    } catch (error) {
      if (attempt !== this.#attempt) return
      if (isFinal(error)) this.close(messageOf(error))
      else this.#lost(messageOf(error))
    }
  }

  #join(transport: Transport, attempt: number): Peer {
    const { receiver, report } = this.#options
    const ear = heardOver(transport, () => this.#hear(attempt))
    const peer = new Peer(ear, receiver, { limits: clientLimits, report })
    this.#peer = peer
    transport.closed.addEventListener('abort', () => {
      if (attempt === this.#attempt) this.#lost(messageOf(transport.closed.reason))
    })
    // A greeting that is never answered: the same patience as with one that falls silent.
    this.#after(deadMs, () => {
      if (!this.#greeted) this.#lost('no answer to the handshake')
    })
    return peer
  }

  #opened(attempt: number): void {
    if (attempt !== this.#attempt) return
    this.#greeted = true
    this.#wasLive = true
    this.#say({ state: 'live', failures: 0 })
    this.#watch()
  }

  #hear(attempt: number): void {
    if (attempt !== this.#attempt) return
    this.#heard = true
    if (!this.#greeted || this.#status.state !== 'stale') return
    this.#callOff()
    this.#say({ state: 'live', failures: 0 })
    this.#watch()
  }

  /** One timer for a whole silence, and not one for every frame. */
  #watch(): void {
    this.#heard = false
    this.#after(quietMs, () => (this.#heard ? this.#watch() : this.#ask()))
  }

  #ask(): void {
    this.#peer?.request('ping', { channel: rootUri }).catch(() => {})
    this.#after(doubtMs, () => {
      if (this.#heard) return this.#watch()
      this.#say({ state: 'stale', reason: 'nothing was heard for a while', failures: 0 })
      this.#after(deadMs - doubtMs, () => this.#lost('nothing was heard for too long'))
    })
  }

  #lost(reason: string): void {
    const failures = this.#status.failures + 1
    this.#drop()
    // Half of it is chance, so that those who were cut together do not come back together.
    const longest = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10))
    const retryInMs = Math.round(longest * (0.5 + this.#options.world.random() / 2))
    this.#after(retryInMs, () => void this.#dial())
    this.#say({ state: this.#wasLive ? 'stale' : 'connecting', reason, failures, retryInMs })
  }

  /** Whatever is under way is given up. */
  #drop(): void {
    this.#attempt++
    this.#callOff()
    const peer = this.#peer
    this.#peer = undefined
    this.#greeted = false
    if (!peer) return
    peer.close(1000)
    this.#options.cut()
  }

  #callOff(): void {
    for (const callOff of this.#timers) callOff()
    this.#timers.clear()
  }

  #after(ms: number, task: () => void): void {
    const callOff = this.#options.world.after(ms, () => {
      this.#timers.delete(callOff)
      task()
    })
    this.#timers.add(callOff)
  }

  #say(status: LinkStatus): void {
    this.#status = status
    this.#options.changed()
  }
}

/** Nothing that a second attempt could change: no common version, or whoever opens it says so. */
function isFinal(error: unknown): boolean {
  if (error instanceof Refused) return true
  return error instanceof AhpError && error.code === errorCodes.UnsupportedProtocolVersion
}

/** The same transport, with an ear at every frame. */
function heardOver(transport: Transport, heard: () => void): Transport {
  return {
    send: (frame) => transport.send(frame),
    receive: (listener) =>
      transport.receive((frame) => {
        heard()
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
