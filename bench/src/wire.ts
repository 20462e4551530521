import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/**
 * A WebSocket client that counts frames without decoding them; only the response to a request is decoded, to text. So
 * a bench measures the server and not the parser of a client.
 */
export class Wire {
  readonly #socket: Socket
  readonly #waiting = new Set<Waiter>()
  #rest: Buffer[] = []
  #restLength = 0
  /** The number of bytes that must be received before the next whole frame can be read. */
  #needed = 2
  frames = 0
  bytes = 0
  /** The text of the response that `ask` waits for. */
  #response: string | undefined
  #asking = false
  /** If set, called with every frame, as a range of the receive buffer. */
  onFrame: ((data: Buffer, start: number, end: number) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    // A write to a closed connection fails.
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.once('close', () => this.#waiting.forEach(({ reject }) => reject(ended())))
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    const key = randomBytes(16).toString('base64')
    const lines = ['GET / HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Upgrade: websocket', 'Connection: Upgrade']
    socket.write([...lines, `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Version: 13', '', ''].join('\r\n'))
    // A server that is too busy ends a link before its upgrade.
    const closed = once(socket, 'close').then(() => Promise.reject(ended()))
    closed.catch(() => {})
    const [head] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer]
    if (!head.toString('latin1').startsWith('HTTP/1.1 101'))
      throw new Error(`the upgrade was refused: ${head.toString('latin1')}`)
    return new Wire(socket)
  }

  send(...messages: readonly object[]): void {
    this.#socket.write(Buffer.concat(messages.map((message) => masked(JSON.stringify(message)))))
  }

  write(frames: Buffer): void {
    this.#socket.write(frames)
  }

  /** Writes a message and waits for as many frames. Returns the milliseconds that it took. */
  async echo(messages: readonly string[]): Promise<number> {
    const frames = this.frames + messages.length
    const bytes = Buffer.concat(messages.map(masked))
    const began = performance.now()
    this.#socket.write(bytes)
    await this.until(() => this.frames >= frames)
    return performance.now() - began
  }

  /** Sends a request and returns the text of its response. */
  async ask(method: string, params: object): Promise<string> {
    this.#response = undefined
    this.#asking = true
    this.send({ jsonrpc: '2.0', id: 1, method, params })
    await this.until(() => this.#response !== undefined)
    this.#asking = false
    return this.#response ?? ''
  }

  /** Resolves when `done` holds after a chunk. Rejects when the server ends the link before: it would never hold. */
  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve()
    if (this.#socket.closed) return Promise.reject(ended())
    return new Promise((resolve, reject) => this.#waiting.add({ done, resolve, reject }))
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#rest.push(chunk)
    this.#restLength += chunk.length
    if (this.#restLength < this.#needed) return
    const data = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest)
    let at = 0
    for (;;) {
      const frame = frameAt(data, at)
      if (!frame || frame.end > data.length) {
        this.#needed = frame ? frame.end - at : 2
        break
      }
      // 0x89 is a ping frame. A server drops a client that does not answer pings.
      if (data.readUInt8(at) === 0x89) this.#socket.write(pong)
      else this.#count(data, frame)
      at = frame.end
    }
    this.#rest = at === data.length ? [] : [data.subarray(at)]
    this.#restLength = data.length - at
    for (const waiter of this.#waiting)
      if (waiter.done()) {
        this.#waiting.delete(waiter)
        waiter.resolve()
      }
  }

  #count(data: Buffer, { start, end }: Frame): void {
    this.frames++
    this.bytes += end - start
    this.onFrame?.(data, start, end)
    if (!this.#asking) return
    // Only the response has this id. Notifications may follow it in the same chunk, and must not replace it.
    const text = data.toString('utf8', start, end)
    if (text.includes('"id":1')) this.#response = text
  }
}

interface Waiter {
  readonly done: () => boolean
  readonly resolve: () => void
  readonly reject: (reason: Error) => void
}

const ended = () => new Error('the server ended the link')

interface Frame {
  readonly start: number
  readonly end: number
}

const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/** The range of the payload of the frame that starts at `at`; undefined if the frame header is incomplete. */
function frameAt(data: Buffer, at: number): Frame | undefined {
  if (data.length < at + 2) return undefined
  const short = data.readUInt8(at + 1) & 127
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0
  if (data.length < at + 2 + extra) return undefined
  const length =
    extra === 0 ? short : extra === 2 ? data.readUInt16BE(at + 2) : Number(data.readBigUInt64BE(at + 2))
  const start = at + 2 + extra
  return { start, end: start + length }
}

/** A text frame as a client sends it. The masking key is zero, so masking leaves the payload unchanged. */
export function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  const long = payload.length > 65535 ? 8 : payload.length > 125 ? 2 : 0
  const head = Buffer.alloc(2 + long + 4)
  head.writeUInt8(0x81, 0)
  head.writeUInt8(0x80 | (long === 0 ? payload.length : long === 2 ? 126 : 127), 1)
  if (long === 2) head.writeUInt16BE(payload.length, 2)
  if (long === 8) head.writeBigUInt64BE(BigInt(payload.length), 2)
  return Buffer.concat([head, payload])
}
