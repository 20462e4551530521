import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/**
 * The moment of a cut: before the server gets a message, or after the server has answered it and before the client hears that.
 * `panic`: as `after`, and the client hears that the server ends because its disk is full.
 */
export type Cut = 'before' | 'after' | 'panic'

/** The last message of a server whose disk for the write-ahead log is full. */
function panic(): Buffer {
  const fields = Buffer.from('SPANIC\0VPANIC\0C53100\0Mcould not write to file "pg_wal/xlogtemp.1"\0\0')
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** A TCP proxy before a server, which cuts connections at chosen moments. */
export interface CutProxy {
  readonly port: number
  /** Cuts the connection that sends a text, once. Resolves when it is cut. */
  cut(text: string, when: Cut): Promise<void>
  /** Cuts all connections, and refuses new ones until `open` is called. */
  shut(): void
  open(): void
  close(): Promise<void>
}

interface Planned {
  readonly text: string
  readonly when: Cut
  readonly done: () => void
}

export async function cutProxy(port: number): Promise<CutProxy> {
  const sockets = new Set<Socket>()
  const planned = new Set<Planned>()
  let shut = false
  const server = createServer((client) => {
    if (shut) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    let swallowing: Planned | undefined
    client.on('data', (bytes) => {
      const found = [...planned].find(({ text }) => bytes.includes(text))
      if (found?.when === 'before') {
        planned.delete(found)
        end()
        return found.done()
      }
      if (found) {
        planned.delete(found)
        swallowing = found
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!swallowing) return void client.write(bytes)
      // The last message of an answer says that the server is ready: Z and a length of 5.
      if (!bytes.includes(Buffer.from([0x5a, 0, 0, 0, 5]))) return
      if (swallowing.when === 'panic') client.end(panic())
      else end()
      swallowing.done()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // The cast is safe: `address()` returns a string only for a server on a pipe.
    port: (server.address() as AddressInfo).port,
    cut: (text, when) => new Promise((done) => planned.add({ text, when, done })),
    shut() {
      shut = true
      for (const socket of sockets) socket.destroy()
    },
    open: () => void (shut = false),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
