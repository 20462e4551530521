import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import type { Fault } from './faults.ts'
import { MemorySocket } from './memory-socket.ts'
import { WrongLink } from './wrong-link.ts'
import { WrongLog } from './wrong-log.ts'

interface RunningHost {
  readonly url: string
  /** The number of open links. */
  links(): number
  close(): Promise<void>
}

/** Starts a minimal host with which the kit itself is tested. The host has these faults; without a fault it is correct. */
export async function startWrongHost(...faults: readonly Fault[]): Promise<RunningHost> {
  const log = new WrongLog(faults)
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('connection', (socket) => new WrongLink(log, socket))
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    links: () => log.links.size,
    async close() {
      for (const socket of server.clients) socket.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The same host without a network: each call makes a connection to it. */
export function dialWrongHost(...faults: readonly Fault[]): () => MemorySocket {
  const log = new WrongLog(faults)
  return () => {
    const [near, far] = MemorySocket.pair()
    void new WrongLink(log, far)
    return near
  }
}
