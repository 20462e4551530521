import { WebSocket } from 'ws'
import { parsed } from '../message.ts'
import type { Message } from '../message.ts'
import { LinkLost, Refused } from './errors.ts'
import type { Line, Recorder } from './history.ts'
import type { Address } from './host.ts'

/** The links of one client, one after the other. Every frame is recorded. */
export class RecordedLink {
  /** The number of the link. */
  number = 0
  /** Number of links that the other side ended. */
  lost = 0
  /** Resolves with the code with which the last link was closed. */
  ended: Promise<number> = Promise.resolve(0)
  readonly #owner: string
  readonly #heard: (message: Message) => void
  readonly #recorder: Recorder
  readonly #waiting = new Set<() => void>()
  readonly #responses = new Map<number, Message>()
  #socket: WebSocket | undefined
  #lastId = 0

  /** `heard` is called with each message before anybody who waits for it goes on. */
  constructor(recorder: Recorder, owner: string, heard: (message: Message) => void) {
    this.#recorder = recorder
    this.#owner = owner
    this.#heard = heard
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  async connect({ url, token, host }: Address): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, ...(host !== undefined && { host }) }
    const socket = new WebSocket(url, { headers, handshakeTimeout: 20_000 })
    const number = ++this.number
    this.#socket = socket
    this.#responses.clear()
    socket.on('message', (data: Buffer) => this.#receive(socket, number, data.toString()))
    socket.on('open', () => {
      this.#recorder.write(number, 'open')
      this.wake()
    })
    socket.on('error', () => {})
    this.ended = new Promise((resolve) => socket.once('close', resolve))
    socket.on('close', () => {
      this.#recorder.write(number, 'shut')
      if (socket === this.#socket) this.lost++
      this.wake()
    })
    await this.until(() => socket.readyState !== WebSocket.CONNECTING)
  }

  /** Ends the link without a close frame. */
  cut(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.terminate()
    this.wake()
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    if (!this.open) return
    this.#recorder.write(this.number, 'out', text)
    this.#socket?.send(text)
  }

  /** Sends a request. Resolves with the result. */
  async call(method: string, params: object): Promise<unknown> {
    const id = ++this.#lastId
    this.send({ id, method, params })
    await this.until(() => this.#responses.has(id))
    const { result, error } = this.#responses.get(id) ?? {}
    if (error) throw new Refused(error)
    return result
  }

  /** Waits for a condition, and tests it after every frame. Throws when the link ends first. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (!this.#socket || this.#socket.readyState > WebSocket.OPEN)
        throw new LinkLost(`${this.#owner} lost its link`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  record(way: Line['way'], text: string): void {
    this.#recorder.write(this.number, way, text)
  }

  wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }

  #receive(socket: WebSocket, number: number, text: string): void {
    // Frames of an abandoned link are ignored.
    if (socket !== this.#socket) return
    this.#recorder.write(number, 'in', text)
    const message = parsed(text)
    // The frame is not JSON. The client ends the link, and the judge will report the frame.
    if (!message) return socket.terminate()
    this.#heard(message)
    if (message.id !== undefined) this.#responses.set(message.id, message)
    this.wake()
  }
}
