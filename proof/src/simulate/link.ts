import type { Transport } from '@atrium/protocol/rpc/transport'

/** What the host said, read once: the message, and what was true when it was said. */
export interface Said {
  readonly text: string
  readonly message: Message
  readonly truth: unknown
}

export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** The client's end. */
export interface LinkEvents {
  /** The host has said something: looked at in that moment, before it travels. */
  said(message: Message): unknown
  heard(said: Said): void
  ended(): void
}

/** A link whose owner decides when each frame arrives and when each side learns that it has ended. */
export class Link {
  readonly host: Transport
  readonly #events: LinkEvents
  readonly #weight: number
  readonly #ending = new AbortController()
  #toHost: string[] = []
  #toClient: (Said | 'end')[] = []
  #bytes = 0
  #listener: ((frame: string) => void) | undefined
  #drained: (() => void)[] = []
  #hostClosed = false
  #clientEnded = false

  constructor(events: LinkEvents, weight: number) {
    this.#events = events
    this.#weight = weight
    const buffered = () => this.#buffered
    this.host = {
      send: (frame) => this.#send(frame),
      receive: (listener) => void (this.#listener = listener),
      close: () => {
        if (this.#hostClosed) return
        this.#hostClosed = true
        this.#toClient.push('end')
      },
      closed: this.#ending.signal,
      get buffered() {
        return buffered()
      },
      drained: () =>
        this.#bytes === 0 || this.#ending.signal.aborted
          ? Promise.resolve()
          : new Promise((resolve) => this.#drained.push(resolve)),
    }
  }

  /** What lies unread weighs more on a narrow link. */
  get #buffered(): number {
    return this.#bytes * this.#weight
  }

  get waiting(): number {
    return this.#toHost.length + (this.#clientEnded ? 0 : this.#toClient.length)
  }

  /** From the client. */
  send(text: string): void {
    if (!this.#clientEnded) this.#toHost.push(text)
  }

  toHost(count: number): void {
    for (const frame of this.#toHost.splice(0, count)) if (!this.hostEnded) this.#listener?.(frame)
  }

  toClient(count: number): void {
    for (let n = 0; n < count && !this.#clientEnded; n++) {
      const said = this.#toClient.shift()
      if (said === undefined) break
      if (said === 'end') {
        this.endHost()
        this.endClient()
      } else this.#events.heard(said)
    }
    if (this.#toClient.length > 0) return
    this.#bytes = 0
    this.#settle()
  }

  /** The host may still answer on it. */
  get hears(): boolean {
    return !this.#hostClosed && !this.hostEnded
  }

  get hostEnded(): boolean {
    return this.#ending.signal.aborted
  }

  /** The client learns that the link is no more; what the host may still read of it stays on its way. */
  endClient(): void {
    if (this.#clientEnded) return
    this.#clientEnded = true
    this.#events.ended()
  }

  /** The host learns it: nothing that is still on its way arrives. */
  endHost(): void {
    if (this.hostEnded) return
    this.#hostClosed = true
    this.#toHost = []
    this.#ending.abort(new Error('cut'))
    this.#settle()
  }

  /** The host is dead: what it had said still arrives, and then the end. */
  hostDied(): void {
    this.#toHost = []
    this.#listener = undefined
    if (!this.#hostClosed) this.#toClient.push('end')
    this.#hostClosed = true
  }

  #send(frame: string | Uint8Array): void {
    if (this.#hostClosed) return
    const text = typeof frame === 'string' ? frame : decoder.decode(frame)
    const message = JSON.parse(text) as Message
    this.#bytes += text.length
    this.#toClient.push({ text, message, truth: this.#events.said(message) })
  }

  #settle(): void {
    for (const resolve of this.#drained.splice(0)) resolve()
  }
}

const decoder = new TextDecoder()
