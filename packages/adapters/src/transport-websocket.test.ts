import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { transportContract } from '../../protocol/src/rpc/transport.contract.ts'
import { SocketClosed, socketOptions, websocketTransport } from './transport-websocket.ts'

const http = createServer()
const sockets = new WebSocketServer({ noServer: true, ...socketOptions })
beforeAll(() => once(http.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => {
  for (const socket of sockets.clients) socket.terminate()
  http.close()
})

transportContract('websocket', async () => {
  const { near, far, wire } = await link()
  return [websocketTransport(far, wire), websocketTransport(near)]
})

test('[R1] many frames of one turn of the loop are one write, and count as buffered before it', async () => {
  const { near, far, wire } = await link()
  const transport = websocketTransport(far, wire)
  const writes = countWrites(wire)
  const got = frames(near, 500)
  for (let n = 0; n < 500; n++) transport.send(`frame ${n}`)
  expect(writes.count).toBe(0)
  expect(transport.buffered).toBeGreaterThan(500 * 'frame n'.length)
  await got
  expect(writes.count).toBe(1)
  expect(transport.buffered).toBe(0)
})

test('[R1] bytes go out as a text frame, as they are', async () => {
  const { near, far, wire } = await link()
  const arrived = once(near, 'message')
  const bytes = new TextEncoder().encode('{"a":"ü"}')
  websocketTransport(far, wire).send(bytes)
  const [data, binary] = (await arrived) as [Buffer, boolean]
  expect({ text: data.toString(), binary }).toEqual({ text: '{"a":"ü"}', binary: false })
  expect(new TextDecoder().decode(bytes)).toBe('{"a":"ü"}')
})

test('S-21: a binary frame closes the link with 1003 and is not delivered, nor is what comes behind it', async () => {
  const { near, far, wire } = await link()
  const got = listen(websocketTransport(far, wire))
  near.send('text')
  near.send(Buffer.from('{}'), { binary: true })
  near.send('behind')
  expect(await closing(near)).toBe(1003)
  expect(got).toEqual(['text'])
})

test.each([
  ['4 MiB', socketOptions.maxPayload, 1000],
  ['a byte more', socketOptions.maxPayload + 1, 1009],
])('S-20: a message of %s', async (_name, size, code) => {
  const { near, far, wire } = await link()
  const transport = websocketTransport(far, wire)
  const got = listen(transport, () => transport.close())
  near.send('x'.repeat(size))
  expect(await closing(near)).toBe(code)
  expect(got.map((frame) => frame.length)).toEqual(code === 1000 ? [size] : [])
})

test.each([
  ['one-byte', 'x', 1024, 1000],
  ['one-byte', 'x', 1025, 1008],
  ['empty', '', 1025, 1008],
])('S-21: %s fragments %j, %d of them', async (_name, piece, count, code) => {
  const { near, far, wire } = await link()
  const transport = websocketTransport(far, wire)
  const got = listen(transport, () => transport.close())
  for (let n = 1; n <= count; n++) near.send(piece, { fin: n === count })
  expect(await closing(near)).toBe(code)
  expect(got).toEqual(code === 1000 ? [piece.repeat(count)] : [])
})

test('S-21: text that is not UTF-8 closes with 1007; compression is not agreed on', async () => {
  const { near, far, wire } = await link()
  const got = listen(websocketTransport(far, wire))
  expect(near.extensions).toBe('')
  near.send(Buffer.from([0xc3, 0x28]), { binary: false })
  expect(await closing(near)).toBe(1007)
  expect(got).toEqual([])
})

test('S-21: pings are answered, and a flood of them by one who does not read is not piled up', async () => {
  const { near, far, wire } = await link()
  websocketTransport(far, wire)
  near.ping('1')
  expect(String((await once(near, 'pong'))[0])).toBe('1')
  // The wire takes nothing meanwhile.
  wire.cork()
  for (let n = 0; n < 1000; n++) near.ping(`flood ${n}`)
  await pings(far, 1000)
  expect(far.bufferedAmount).toBeLessThan(200)
  const last = new Promise<void>((resolve) =>
    near.on('pong', (data) => {
      if (String(data) === 'flood 999') resolve()
    }),
  )
  wire.uncork()
  await last
})

test('[R1] codes and reasons pass in both directions; a long reason is cut', async () => {
  const { near, far, wire } = await link()
  const [a, b] = [websocketTransport(far, wire), websocketTransport(near)]
  a.close(1013, 'ü'.repeat(100))
  await Promise.all([ended(a), ended(b)])
  expect(b.closed.reason).toBeInstanceOf(SocketClosed)
  expect(b.closed.reason).toMatchObject({ code: 1013, message: `closed with 1013: ${'ü'.repeat(61)}` })
  expect(a.closed.reason).toMatchObject({ code: 1013 })
})

test('[R1] a torn wire ends the transport and whoever waits for it to drain', async () => {
  const { near, far, wire } = await link()
  const transport = websocketTransport(far, wire)
  ;(near as unknown as { _socket: Socket })._socket.pause()
  transport.send('x'.repeat(50_000_000))
  const drained = transport.drained()
  near.terminate()
  await Promise.all([drained, ended(transport)])
  expect(transport.closed.reason).toMatchObject({ code: 1006 })
})

interface Link {
  readonly near: WebSocket
  readonly far: WebSocket
  readonly wire: Duplex
}

/** Two ends of one loopback socket: near the client's, far the server's with the wire below it. */
async function link(): Promise<Link> {
  const { port } = http.address() as AddressInfo
  const upgrade = once(http, 'upgrade') as Promise<[IncomingMessage, Duplex, Buffer]>
  const near = new WebSocket(`ws://127.0.0.1:${port}/`, socketOptions)
  const opened = once(near, 'open')
  const [request, wire, head] = await upgrade
  const far = await new Promise<WebSocket>((resolve) =>
    sockets.handleUpgrade(request, wire, head, (socket) => resolve(socket)),
  )
  await opened
  return { near, far, wire }
}

/** Counts what the stream hands to the system: a batch is one. */
function countWrites(wire: Duplex): { count: number } {
  const writes = { count: 0 }
  const stream = wire as Duplex & Required<Pick<Duplex, '_writev'>>
  const one = stream._write.bind(stream)
  const many = stream._writev.bind(stream)
  stream._write = (...args) => {
    writes.count++
    one(...args)
  }
  stream._writev = (...args) => {
    writes.count++
    many(...args)
  }
  return writes
}

function listen(transport: Transport, then?: () => void): readonly string[] {
  const got: string[] = []
  transport.receive((frame) => {
    got.push(frame)
    then?.()
  })
  return got
}

function frames(socket: WebSocket, count: number): Promise<void> {
  let seen = 0
  return new Promise((resolve) =>
    socket.on('message', () => {
      if (++seen === count) resolve()
    }),
  )
}

function pings(socket: WebSocket, count: number): Promise<void> {
  let seen = 0
  return new Promise((resolve) =>
    socket.on('ping', () => {
      if (++seen === count) resolve()
    }),
  )
}

async function closing(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number]
  return code
}

function ended({ closed }: Transport): Promise<void> {
  return new Promise((resolve) => {
    if (closed.aborted) resolve()
    else closed.addEventListener('abort', () => resolve(), { once: true })
  })
}
