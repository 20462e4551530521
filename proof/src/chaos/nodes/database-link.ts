import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

/** The network between one node and its database. */
export class DatabaseLink {
  readonly #server: Server
  readonly #target: number
  readonly #sockets = new Set<Socket>()
  #state: 'open' | 'cut' | 'silent' = 'open'

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer({ noDelay: true }, (near) => this.#accept(near))
  }

  static async to(target: number): Promise<DatabaseLink> {
    const link = new DatabaseLink(target)
    await once(link.#server.listen(0, '127.0.0.1'), 'listening')
    return link
  }

  get port(): number {
    // The cast is safe: `address()` returns a string only for a server on a pipe.
    return (this.#server.address() as AddressInfo).port
  }

  /** Ends all connections. New ones are accepted. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends all connections, and accepts no others. */
  cut(): void {
    this.#state = 'cut'
    this.drop()
  }

  /** Forwards nothing, and ends nothing. What is on its way arrives after the network has healed. */
  silence(): void {
    this.#state = 'silent'
    for (const socket of this.#sockets) socket.pause()
  }

  heal(): void {
    this.#state = 'open'
    for (const socket of this.#sockets) socket.resume()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #accept(near: Socket): void {
    if (this.#state === 'cut') return void near.destroy()
    const far = connect({ port: this.#target, host: '127.0.0.1', noDelay: true })
    this.#forward(near, far)
    this.#forward(far, near)
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.on('error', () => {})
    from.on('data', (data: Buffer) => void (to.destroyed || to.write(data)))
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
    if (this.#state === 'silent') from.pause()
  }
}
