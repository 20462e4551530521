import { once } from 'node:events'
import { WebSocket } from 'ws'
import { readyIn } from './host-process.ts'

/** A raw JSON-RPC client that records the sequence numbers of its echoed actions. */
export class RawClient {
  readonly echoes: number[] = []
  readonly ended: Promise<unknown>
  readonly #socket: WebSocket
  readonly #answers = new Map<number, unknown>()
  #asked = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    this.ended = once(socket, 'close')
    socket.on('message', (data: Buffer) => {
      // The message is a response, or a notification with an action.
      const message = JSON.parse(data.toString()) as {
        id?: number
        result?: unknown
        params?: { serverSeq: number }
      }
      if (message.id === undefined) this.echoes.push(message.params?.serverSeq ?? 0)
      else this.#answers.set(message.id, message.result)
    })
  }

  static async open(ready: string): Promise<RawClient> {
    const { url, token } = readyIn(ready)
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    await once(socket, 'open')
    return new RawClient(socket)
  }

  send(method: string, params: object, id?: number): void {
    this.#socket.send(
      JSON.stringify({ jsonrpc: '2.0', id, method, params: { channel: 'ahp-root://', ...params } }),
    )
  }

  async ask(method: string, params: object): Promise<unknown> {
    const id = ++this.#asked
    this.send(method, params, id)
    await this.until(() => this.#answers.has(id))
    return this.#answers.get(id)
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) await once(this.#socket, 'message')
  }
}
