import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { Wire } from './wire.ts'

test('[B20] a request on a link that the server ends is rejected, so that a bench does not wait for ever', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  server.on('connection', (socket) => socket.on('message', () => socket.terminate()))
  const wire = await Wire.open((server.address() as AddressInfo).port)
  await expect(wire.ask('ping', {})).rejects.toThrow('the server ended the link')
  await expect(wire.ask('ping', {})).rejects.toThrow('the server ended the link')
  server.close()
})
