import { once } from 'node:events'
import { appendFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import type { RawData } from 'ws'
import type { Frame, Matcher, Message } from './frame.ts'
import { until } from './wait.ts'

/**
 * A WebSocket server that forwards every link to the host, and records the messages in both directions. A link is
 * accepted when the host has accepted its own: while the host is down, a client is refused as it would be without a tap.
 */
export class Tap {
  readonly frames: Frame[] = []
  readonly #server = createServer()
  readonly #links = new WebSocketServer({ noServer: true })
  readonly #file: string
  readonly #target: () => string
  readonly #began = performance.now()
  #count = 0
  #closed = false

  private constructor(target: () => string, file: string) {
    this.#target = target
    this.#file = file
    writeFileSync(file, '')
    this.#server.on('upgrade', (request, socket, head) => this.#accept(request, socket, head))
    this.#server.listen(0, '127.0.0.1')
  }

  /** Opens a tap. `target` gives the URL of the host at the time of each link, and the file gets a line per message. */
  static async open(target: () => string, file: string): Promise<Tap> {
    const tap = new Tap(target, file)
    await once(tap.#server, 'listening')
    return tap
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The position after the newest frame. */
  get mark(): number {
    return this.frames.length
  }

  /** Resolves with the first frame from `mark` on that matches. Fails if none comes in time. */
  async frame(matcher: Matcher, mark = 0): Promise<Frame> {
    let at = mark
    return until(() => {
      for (; at < this.frames.length; at++) {
        const frame = this.frames[at]
        if (frame && matcher(frame)) return frame
      }
      return undefined
    }, 'a message between VS Code and the host')
  }

  /** Ends all links. What still arrives is not recorded. */
  close(): void {
    this.#closed = true
    for (const client of this.#links.clients) client.terminate()
    this.#server.close()
  }

  #accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = request.url ?? '/'
    const query = path.includes('?') ? path.slice(path.indexOf('?')) : ''
    const far = new WebSocket(new URL(query, this.#target()))
    far.on('error', () => socket.destroy())
    socket.on('error', () => far.close())
    far.on('open', () => {
      // The host's first message may come before the upgrade is done. It waits until the link forwards it.
      far.pause()
      this.#links.handleUpgrade(request, socket, head, (near) => {
        this.#forward(near, far)
        far.resume()
      })
    })
  }

  #forward(near: WebSocket, far: WebSocket): void {
    const link = ++this.#count
    near.on('message', (data) => {
      const text = textOf(data)
      this.#record(link, 'client', text)
      far.send(text)
    })
    far.on('message', (data) => {
      const text = textOf(data)
      this.#record(link, 'host', text)
      near.send(text)
    })
    near.on('error', () => far.close())
    far.on('close', () => {
      this.#record(link, 'host')
      near.close()
    })
    near.on('close', () => {
      this.#record(link, 'client')
      far.close()
    })
  }

  #record(link: number, from: Frame['from'], text?: string): void {
    if (this.#closed) return
    const at = Math.round(performance.now() - this.#began)
    const frame = { at, link, from, ...(text !== undefined && parsed(text)) }
    this.frames.push(frame)
    appendFileSync(this.#file, `${JSON.stringify(frame)}\n`)
  }
}

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : Buffer.concat([data].flat() as Buffer[]).toString()
}

function parsed(text: string): { readonly message: Message } | { readonly text: string } {
  try {
    // The driver only reads what it finds; a frame of another shape matches nothing.
    return { message: JSON.parse(text) as Message }
  } catch {
    return { text }
  }
}
