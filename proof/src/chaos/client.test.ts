import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCodes } from '@atrium/protocol/errors'
import { sessionUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { Client } from './client.ts'

test('[B72] a session whose creation is refused at first is not taken for gone, and its actions get their outcome', async () => {
  const session = sessionUri('s1')
  const action = { type: 'session/titleChanged', title: 'hello' }
  const client = await connected()
  client.create(session)
  client.dispatch(session, action)
  await client.settle()
  expect([...client.gone]).toEqual([])
  expect(client.answers).toEqual([
    { channel: session, action, serverSeq: 1, origin: { clientId: 'ann', clientSeq: 2 } },
  ])
})

interface Frame {
  readonly id?: number
  readonly method: string
  readonly params: { readonly channel: string; readonly clientSeq: number; readonly action: object }
}

/** A client of a host that refuses the first `createSession`, and ignores actions to channels that do not exist. */
async function connected(): Promise<Client> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-chaos-client-'))
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
    rmSync(folder, { recursive: true })
  })
  let refused = false
  let serverSeq = 0
  const channels = new Set<string>()
  const answer = ({ id, method, params: { channel, clientSeq, action } }: Frame): object | undefined => {
    if (method === 'initialize')
      return { id, result: { serverSeq, snapshots: [], _meta: { 'x-atrium': {} } } }
    if (method === 'createSession' && !refused) {
      refused = true
      return { id, error: { code: errorCodes.PermissionDenied, message: 'the disk is full' } }
    }
    if (method === 'createSession') channels.add(channel)
    if (method === 'dispatchAction') {
      if (!channels.has(channel)) return undefined
      const origin = { clientId: 'ann', clientSeq }
      return { method: 'action', params: { channel, action, serverSeq: ++serverSeq, origin } }
    }
    if (method === 'subscribe' && !channels.has(channel))
      return { id, error: { code: errorCodes.SessionNotFound, message: 'no session' } }
    const snapshot = { resource: channel, state: {}, fromSeq: serverSeq }
    return { id, result: method === 'subscribe' ? { snapshot } : null }
  }
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      // The frames are the client's own: hence the cast.
      const message = answer(JSON.parse(data.toString()) as Frame)
      if (message) socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
    }),
  )
  await once(server, 'listening')
  // The cast is safe: `address()` returns a string only for a server on a pipe.
  const { port } = server.address() as AddressInfo
  const client = new Client(folder, 'ann')
  await client.connect({ url: `ws://127.0.0.1:${port}`, token: 'token' })
  return client
}
