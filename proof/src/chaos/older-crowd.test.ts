import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sessionUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { Sessions } from './load.ts'
import { OlderCrowd } from './older-crowd.ts'

test('[B45] a link that the host ends during the comparison is opened again, and is no difference', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-chaos-older-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const sessions = new Sessions()
  sessions.live.push(sessionUri('s1'))
  const crowd = new OlderCrowd(folder, sessions)
  onTestFinished(() => {
    for (const client of crowd.clients) {
      client.cut()
      client.flush()
    }
  })
  expect(await crowd.difference(await hostThatEndsLinks(), 60_000)).toBeUndefined()
  expect(crowd.clients.map(({ returns }) => returns)).toEqual([1, 1, 1, 1])
})

/** Listens as a host without any changes that ends the link of each client once, at its first `subscribe`. */
async function hostThatEndsLinks(): Promise<{ readonly url: string; readonly token: string }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  const ended = new Set<string>()
  server.on('connection', (socket) => {
    let clientId = ''
    socket.on('message', (data: Buffer) => {
      // The frames are the client's own: hence the cast.
      const { id, method, params } = JSON.parse(data.toString()) as Frame
      if (params.clientId !== undefined) clientId = params.clientId
      if (method === 'subscribe' && !ended.has(clientId) && !clientId.includes('fresh')) {
        ended.add(clientId)
        return socket.terminate()
      }
      const resource = params.channel ?? params.resource ?? ''
      const result =
        method === 'subscribe'
          ? { snapshot: { resource, state: {}, fromSeq: 0 } }
          : { serverSeq: 0, snapshots: [], actions: [], missing: [] }
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await once(server, 'listening')
  // The cast is safe: `address()` returns a string only for a server on a pipe.
  const { port } = server.address() as AddressInfo
  return { url: `ws://127.0.0.1:${port}`, token: 'token' }
}

interface Frame {
  readonly id?: number
  readonly method: string
  readonly params: { readonly clientId?: string; readonly channel?: string; readonly resource?: string }
}
