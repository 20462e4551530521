import type { Transport } from './transport.ts'

/** Runs a task later. A simulation passes its own function and so decides when each frame arrives. */
export type Schedule = (task: () => void) => void

/** Two connected transports inside one process: each receives the frames of the other, asynchronously and in order. */
export function pair(schedule: Schedule = queueMicrotask): readonly [Transport, Transport] {
  const a = new End(schedule)
  const b = new End(schedule)
  a.join(b)
  b.join(a)
  return [a, b]
}

class End implements Transport {
  readonly #schedule: Schedule
  readonly #ending = new AbortController()
  readonly #arrived: string[] = []
  readonly #waiting: (() => void)[] = []
  #listener: ((frame: string) => void) | undefined
  #other: End | undefined
  #inFlight = 0
  #closing = false
  #ended: string | undefined

  constructor(schedule: Schedule) {
    this.#schedule = schedule
  }

  join(other: End): void {
    this.#other = other
  }

  get closed(): AbortSignal {
    return this.#ending.signal
  }

  get buffered(): number {
    return this.#inFlight
  }

  send(frame: string | Uint8Array): void {
    if (this.#closing) return
    const text = typeof frame === 'string' ? frame : new TextDecoder().decode(frame)
    const bytes = typeof frame === 'string' ? new TextEncoder().encode(frame).length : frame.length
    this.#inFlight += bytes
    this.#schedule(() => {
      this.#inFlight -= bytes
      this.#other?.deliver(text)
      if (this.#inFlight === 0) this.#settle()
    })
  }

  receive(listener: (frame: string) => void): void {
    // A frame that arrives during this loop joins the queue, so the frames stay in order.
    for (let frame = this.#arrived.shift(); frame !== undefined; frame = this.#arrived.shift())
      listener(frame)
    this.#listener = listener
    if (this.#ended !== undefined) this.end(this.#ended)
  }

  close(_code?: number, reason = 'closed'): void {
    if (this.#closing) return
    this.#closing = true
    // The end is scheduled, so that it comes after the frames that were sent before.
    this.#schedule(() => {
      this.#other?.end(reason)
      // The side that closes drops its unread frames.
      this.#arrived.length = 0
      this.end(reason)
    })
  }

  drained(): Promise<void> {
    if (this.#inFlight === 0 || this.#ending.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  deliver(frame: string): void {
    if (this.#ending.signal.aborted) return
    if (this.#listener) this.#listener(frame)
    else this.#arrived.push(frame)
  }

  /** Ends the transport, but not before its last frame was delivered. */
  end(reason: string): void {
    this.#closing = true
    this.#ended = reason
    if (this.#arrived.length > 0) return
    this.#ending.abort(new Error(reason))
    this.#settle()
  }

  #settle(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
