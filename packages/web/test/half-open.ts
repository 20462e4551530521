import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** A network between a page and its host that can lose connections without a sign of it. */
export class Network {
  readonly #server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket))
  readonly #sockets = new Set<Socket>()
  #host = 0

  static async open(): Promise<Network> {
    const network = new Network()
    network.#server.listen(0, '127.0.0.1')
    await once(network.#server, 'listening')
    onTestFinished(() => {
      network.#server.close()
      for (const socket of network.#sockets) socket.destroy()
    })
    return network
  }

  /** The name of the network's end for pages, as in a `Host` header. */
  get name(): string {
    // A server that listens on an address has an address: hence the cast.
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Leads to the host at this port. */
  leadTo(port: number): void {
    this.#host = port
  }

  /** All present connections carry nothing any more, and stay open. New ones work. */
  freeze(): void {
    for (const socket of this.#sockets) {
      socket.unpipe()
      socket.pause()
    }
  }

  #accept(near: Socket): void {
    const far = connect(this.#host, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => other.destroy())
      socket.pipe(other)
    }
  }
}
