import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Transport } from '@atrium/protocol/rpc/transport'

export interface LineTransportOptions {
  /** The maximum length of a line, in characters. Without this limit an endless line would fill the memory. */
  readonly maxLineLength: number
  /** Receives each line that is not a JSON-RPC message. Some programs print greetings to stdout. */
  readonly onStray: (line: string) => void
  /** Called with the reason when the transport closes because of invalid output. */
  readonly onBroken: (problem: string) => void
}

/**
 * Sends and receives JSON-RPC messages as lines on two pipes. If reading is paused and the pipe is full, the program
 * blocks when it writes.
 */
export class LineTransport implements Transport {
  readonly #input: Writable
  readonly #output: Readable
  readonly #options: LineTransportOptions
  readonly #closed = new AbortController()
  readonly #decoder = new StringDecoder('utf8')
  /** Complete lines that were not yet passed to the listener. */
  readonly #queue: string[] = []
  #listener: ((frame: string) => void) | undefined
  /** Pieces of the last line, whose end has not come yet. */
  #partial: string[] = []
  #partialLength = 0
  /** The number of `pause` calls minus the number of `resume` calls. */
  #pauses = 0
  #writeBlocked = false

  constructor(input: Writable, output: Readable, options: LineTransportOptions) {
    this.#input = input
    this.#output = output
    this.#options = options
    // A write error needs no reaction: it means that the program has exited, and the end of its output closes the transport.
    input.on('error', () => {})
    output.on('data', (bytes: Buffer) => this.#read(this.#decoder.write(bytes)))
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
    if (this.#writeBlocked || this.#input.writableLength < maxUnsentBytes) return
    // Reading stops while writing is blocked. Otherwise a program that sends requests and never reads the responses would
    // fill the memory.
    this.#writeBlocked = true
    this.pause()
    void this.drained().then(() => {
      this.#writeBlocked = false
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

  /** Stops reading. Reading continues when `resume` was called as often as `pause`. */
  pause(): void {
    this.#pauses++
    this.#output.pause()
  }

  resume(): void {
    this.#pauses = Math.max(0, this.#pauses - 1)
    this.#deliver()
    if (!this.paused) this.#output.resume()
  }

  get paused(): boolean {
    return this.#pauses > 0
  }

  /** Closes both pipes. `reason` is given only if the program sent invalid output. */
  close(_code?: number, reason?: string): void {
    if (this.closed.aborted) return
    this.#pauses = 0
    this.#deliver()
    if (reason !== undefined) this.#options.onBroken(reason)
    this.#closed.abort()
    this.#input.end()
  }

  #read(text: string): void {
    for (let at = 0; at < text.length && !this.closed.aborted;) {
      const end = text.indexOf('\n', at)
      const piece = text.slice(at, end < 0 ? undefined : end)
      this.#partial.push(piece)
      this.#partialLength += piece.length
      if (this.#partialLength > this.#options.maxLineLength) return this.#closeTooLong()
      if (end < 0) break
      const line = this.#partial.join('').trim()
      this.#partial = []
      this.#partialLength = 0
      at = end + 1
      if (line.startsWith('{')) this.#queue.push(line)
      else if (line !== '') this.#options.onStray(line)
    }
    this.#deliver()
  }

  #closeTooLong(): void {
    this.#partial = []
    this.close(undefined, `it wrote a line of more than ${this.#options.maxLineLength} characters`)
  }

  #deliver(): void {
    while (!this.paused && this.#listener) {
      const line = this.#queue.shift()
      if (line === undefined) return
      this.#listener(line)
    }
  }
}

const maxUnsentBytes = 4 * 2 ** 20
