import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Transport } from '@atrium/protocol/rpc/transport'

export interface LinesOptions {
  /** The longest line, in characters: there is no other bound on what an agent writes without an end. */
  readonly most: number
  /** A line that is no message. Agents print greetings where they should not. */
  readonly stray: (line: string) => void
  /** Nothing more can be read, and why. */
  readonly broken: (problem: string) => void
}

/** Messages as lines on two pipes. Reading can be paused, and then the agent has to wait. */
export class Lines implements Transport {
  readonly #input: Writable
  readonly #output: Readable
  readonly #options: LinesOptions
  readonly #closed = new AbortController()
  readonly #decoder = new StringDecoder('utf8')
  readonly #waiting: string[] = []
  #listener: ((frame: string) => void) | undefined
  /** What has come of a line that has not ended. */
  #begun: string[] = []
  #length = 0
  /** So many want the agent to wait. */
  #holds = 0
  #choked = false

  constructor(input: Writable, output: Readable, options: LinesOptions) {
    this.#input = input
    this.#output = output
    this.#options = options
    // An agent that has gone is noticed by its end.
    input.on('error', () => {})
    output.on('data', (bytes: Buffer) => this.#take(this.#decoder.write(bytes)))
    output.on('error', () => this.close())
    output.once('close', () => this.close())
    output.once('end', () => this.close())
  }

  get closed(): AbortSignal {
    return this.#closed.signal
  }

  get buffered(): number {
    return this.#input.writableLength
  }

  send(frame: string | Uint8Array): void {
    if (this.closed.aborted || !this.#input.writable) return
    this.#input.write(frame)
    this.#input.write('\n')
    if (this.#choked || this.#input.writableLength < mostUnsent) return
    // One that asks and does not read the answers must not fill our memory with them.
    this.#choked = true
    this.pause()
    void this.drained().then(() => {
      this.#choked = false
      this.resume()
    })
  }

  receive(listener: (frame: string) => void): void {
    this.#listener = listener
    this.#deliver()
  }

  async drained(): Promise<void> {
    while (!this.closed.aborted && this.#input.writableLength > 0)
      await new Promise<void>((resolve) => {
        const done = () => {
          this.closed.removeEventListener('abort', done)
          resolve()
        }
        this.#input.once('drain', done)
        this.closed.addEventListener('abort', done)
      })
  }

  /** Until whoever said so says `resume`. */
  pause(): void {
    this.#holds++
    this.#output.pause()
  }

  resume(): void {
    this.#holds = Math.max(0, this.#holds - 1)
    this.#deliver()
    if (!this.held) this.#output.resume()
  }

  get held(): boolean {
    return this.#holds > 0
  }

  /** With a reason where the agent has said something that cannot be borne. */
  close(_code?: number, reason?: string): void {
    if (this.closed.aborted) return
    this.#holds = 0
    this.#deliver()
    if (reason !== undefined) this.#options.broken(reason)
    this.#closed.abort()
    this.#input.end()
  }

  #take(text: string): void {
    for (let at = 0; at < text.length && !this.closed.aborted;) {
      const end = text.indexOf('\n', at)
      const piece = text.slice(at, end < 0 ? undefined : end)
      this.#begun.push(piece)
      this.#length += piece.length
      if (this.#length > this.#options.most) return this.#break()
      if (end < 0) break
      const line = this.#begun.join('').trim()
      this.#begun = []
      this.#length = 0
      at = end + 1
      if (line.startsWith('{')) this.#waiting.push(line)
      else if (line !== '') this.#options.stray(line)
    }
    this.#deliver()
  }

  #break(): void {
    this.#begun = []
    this.close(undefined, `it wrote a line of more than ${this.#options.most} characters`)
  }

  #deliver(): void {
    while (!this.held && this.#listener) {
      const line = this.#waiting.shift()
      if (line === undefined) return
      this.#listener(line)
    }
  }
}

/** In bytes. */
const mostUnsent = 4 * 2 ** 20
