import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Message } from '../message.ts'

/**
 * A message of the host, parsed once, and the state that the client must have after it, computed when the host sent
 * it.
 */
export interface SentMessage {
  readonly text: string
  readonly message: Message
  readonly expected: unknown
}

/** Callbacks of the client's side of a link. */
export interface LinkEvents {
  /**
   * Called when the host sends a message, before the message is delivered. Returns the state that the client must
   * have after it.
   */
  sent(message: Message, text: string): unknown
  received(sent: SentMessage): void
  ended(): void
}

/** A link whose owner decides when each frame arrives and when each side learns of the end. */
export class Link {
  readonly host: Transport
  readonly #events: LinkEvents
  readonly #weight: number
  readonly #ending = new AbortController()
  #toHost: string[] = []
  #toClient: (SentMessage | 'end')[] = []
  #bytes = 0
  #listener: ((frame: string) => void) | undefined
  #drained: (() => void)[] = []
  /** How often the host has told the client that the disk is full. */
  toldFull = 0
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

  /** The number of unread bytes, times the weight of the link. On a narrow link the weight is high. */
  get #buffered(): number {
    return this.#bytes * this.#weight
  }

  get waiting(): number {
    return this.#toHost.length + (this.#clientEnded ? 0 : this.#toClient.length)
  }

  /** Sends a frame from the client. */
  send(text: string): void {
    if (!this.#clientEnded) this.#toHost.push(text)
  }

  toHost(count: number): void {
    for (const frame of this.#toHost.splice(0, count)) if (!this.hostEnded) this.#listener?.(frame)
  }

  toClient(count: number): void {
    for (let n = 0; n < count && !this.#clientEnded; n++) {
      const sent = this.#toClient.shift()
      if (sent === undefined) break
      if (sent === 'end') {
        this.endHost()
        this.endClient()
      } else this.#events.received(sent)
    }
    if (this.#toClient.length > 0) return
    this.#bytes = 0
    this.#resolveDrained()
  }

  /** Whether the host can still answer on this link. */
  get hostListens(): boolean {
    return !this.#hostClosed && !this.hostEnded
  }

  get hostEnded(): boolean {
    return this.#ending.signal.aborted
  }

  /** Tells the client that the link has ended. Frames under way to the host may still arrive. */
  endClient(): void {
    if (this.#clientEnded) return
    this.#clientEnded = true
    this.#events.ended()
  }

  /** Tells the host that the link has ended. Frames under way to it are lost. */
  endHost(): void {
    if (this.hostEnded) return
    this.#hostClosed = true
    this.#toHost = []
    this.#ending.abort(new Error('cut'))
    this.#resolveDrained()
  }

  /** Called when the host has died. The messages that it has sent still arrive, and then the end of the link. */
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
    if (message.method === 'x-atrium/diskFull') this.toldFull++
    this.#bytes += text.length
    this.#toClient.push({ text, message, expected: this.#events.sent(message, text) })
  }

  #resolveDrained(): void {
    for (const resolve of this.#drained.splice(0)) resolve()
  }
}

const decoder = new TextDecoder()
