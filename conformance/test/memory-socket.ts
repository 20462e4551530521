import { EventEmitter } from 'node:events'
import { WebSocket } from 'ws'

/**
 * One end of a connection in memory, with what the kit and the wrong host use of a WebSocket. The kit opens thousands of connections
 * to wrong hosts, and those of a network take more CPU time than all else. As there, everything arrives later, and in order.
 */
export class MemorySocket extends EventEmitter {
  readyState: number = WebSocket.OPEN
  #peer: MemorySocket | undefined

  /** Both ends of a new connection. The first one is told when it is open. */
  static pair(): readonly [MemorySocket, MemorySocket] {
    const ends = [new MemorySocket(), new MemorySocket()] as const
    ends[0].#peer = ends[1]
    ends[1].#peer = ends[0]
    setImmediate(() => ends[0].emit('open'))
    return ends
  }

  send(text: string): void {
    const peer = this.#peer
    setImmediate(() => {
      if (peer?.readyState === WebSocket.OPEN) peer.emit('message', Buffer.from(text), false)
    })
  }

  /** Closes the connection after everything that was sent. */
  close(code = 1005): void {
    setImmediate(() => this.#end(code))
  }

  terminate(): void {
    this.#end(1006)
  }

  #end(code: number): void {
    for (const end of [this, this.#peer]) {
      if (end?.readyState !== WebSocket.OPEN) continue
      end.readyState = WebSocket.CLOSED
      setImmediate(() => end.emit('close', code, Buffer.alloc(0)))
    }
  }
}
