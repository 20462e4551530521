import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { transportContract } from '../../../protocol/src/rpc/transport.contract.ts'
import { SocketClosed, socketOptions, websocketTransport } from './websocket-transport.ts'

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

test('[R1] all frames of one turn of the event loop are one write, and count as buffered before it', async () => {
  const { near, far, wire } = await link()
  const transport = websocketTransport(far, wire)
  const writes = countWrites(wire)
  const got = events(near, 'message', 500)
  for (let n = 0; n < 500; n++) transport.send(`frame ${n}`)
  expect(writes.count).toBe(0)
  expect(transport.buffered).toBeGreaterThan(500 * 'frame n'.length)
  await got
  expect(writes.count).toBe(1)
  expect(transport.buffered).toBe(0)
})

test('[R1] bytes are sent unchanged, as a text frame', async () => {
  const { near, far, wire } = await link()
  const arrived = once(near, 'message')
  const bytes = new TextEncoder().encode('{"a":"ü"}')
  websocketTransport(far, wire).send(bytes)
  const [data, binary] = (await arrived) as [Buffer, boolean]
  expect({ text: data.toString(), binary }).toEqual({ text: '{"a":"ü"}', binary: false })
  expect(new TextDecoder().decode(bytes)).toBe('{"a":"ü"}')
})

test('[H4] a paused transport makes its peer wait, loses nothing, and can still be closed', async () => {
  const { near, far, wire } = await link()
  const transport = websocketTransport(far, wire)
  const got = listen(transport)
  transport.pause?.()
  const text = 'x'.repeat(1_000_000)
  for (let n = 0; n < 20; n++) near.send(text)
  const { bytesRead } = wire as Socket
  await new Promise((resolve) => setImmediate(resolve))
  expect([got.length, (wire as Socket).bytesRead]).toEqual([0, bytesRead])
  expect(near.bufferedAmount).toBeGreaterThan(0)
  transport.resume?.()
  const last = once(near, 'pong')
  near.ping()
  await last
  expect(got).toHaveLength(20)
  transport.pause?.()
  transport.close(1000)
  expect(await closing(near)).toBe(1000)
})

test('[S-21] a binary frame closes the connection with 1003; neither it nor later frames are delivered', async () => {
  const { near, far, wire } = await link()
  const got = listen(websocketTransport(far, wire))
  near.send('text')
  near.send(Buffer.from('{}'), { binary: true })
  near.send('behind')
  expect(await closing(near)).toBe(1003)
  expect(got).toEqual(['text'])
})

describe('S-20: a message', () => {
  const sent = async (text: string) => {
    const { near, far, wire } = await link()
    const transport = websocketTransport(far, wire)
    const got = listen(transport, () => transport.close())
    near.send(text)
    const code = await closing(near)
    return { code, lengths: got.map((frame) => frame.length) }
  }
  test.each([4_194_303, 4_194_304])(
    '[S-57 messageBytes] at 4,194,304: a message of %d is received',
    async (size) => expect(await sent('x'.repeat(size))).toEqual({ code: 1000, lengths: [size] }),
  )
  test('[S-57 messageBytes] past 4,194,304: one byte more closes the connection with 1009', async () =>
    expect(await sent('x'.repeat(4_194_305))).toEqual({ code: 1009, lengths: [] }))
  test('[S-57 messageBytes] past 4,194,304: bytes are counted, not characters', async () =>
    expect(await sent('ü'.repeat(2_097_153))).toEqual({ code: 1009, lengths: [] }))

  test.each([
    ['in one frame', [head(0x81, 100 * MiB)], 0],
    ['in fragments', [head(0x01, MiB), ...Array.from({ length: 99 }, () => head(0x00, MiB))], 5],
  ])(
    '100 MiB streamed slowly, %s: closed with 1009 before much of it was read',
    async (_how, heads, most) => {
      const { near, far, wire } = await link()
      const got = listen(websocketTransport(far, wire))
      let code = 0
      const ended = closing(near).then((given) => (code = given))
      const raw = rawOf(near)
      let pieces = 0
      for (const one of heads) {
        raw.write(one)
        for (let i = 0; i < 16 && code === 0; i++) {
          await new Promise<void>((resolve) => raw.write(Buffer.alloc(MiB / 16), () => resolve()))
          await turn()
          pieces++
        }
        if (code !== 0) break
      }
      await ended
      expect(code).toBe(1009)
      expect(got).toEqual([])
      // Bytes that are still in the kernel's buffers count as sent, too.
      expect(pieces).toBeLessThanOrEqual(16 * (most + 2))
    },
  )
})

describe('[S-21] a message in fragments', () => {
  const sent = async (piece: string, count: number) => {
    const { near, far, wire } = await link()
    const transport = websocketTransport(far, wire)
    const got = listen(transport, () => transport.close())
    for (let n = 1; n <= count; n++) near.send(piece, { fin: n === count })
    return { code: await closing(near), got }
  }
  test.each(['x', ''])('[S-57 fragments] at 1,024: a message of 1,024 times %j is received', async (piece) =>
    expect(await sent(piece, 1024)).toEqual({ code: 1000, got: [piece.repeat(1024)] }),
  )
  test.each(['x', ''])(
    '[S-57 fragments] past 1,024: a message of 1,025 times %j closes the connection with 1008',
    async (piece) => expect(await sent(piece, 1025)).toEqual({ code: 1008, got: [] }),
  )

  test.each([1, 0])('a million fragments of %d bytes', async (size) => {
    const { near, far, wire } = await link()
    const got = listen(websocketTransport(far, wire))
    const ended = closing(near)
    const many = Buffer.concat(Array.from({ length: 10_000 }, () => masked(0x00, Buffer.alloc(size, 120))))
    const raw = rawOf(near)
    raw.on('error', () => {})
    raw.write(masked(0x01, Buffer.alloc(size, 120)))
    for (let i = 0; i < 100 && !raw.destroyed; i++) raw.write(many)
    expect(await ended).toBe(1008)
    expect(got).toEqual([])
  })
})

test.each([
  ['a compressed frame', masked(0xc1, Buffer.from('x')), 1002],
  ['a reserved bit', masked(0xa1, Buffer.from('x')), 1002],
  ['an unknown opcode', masked(0x83, Buffer.from('x')), 1002],
  ['a fragment of nothing', masked(0x80, Buffer.from('x')), 1002],
  ['a ping in fragments', masked(0x09, Buffer.from('x')), 1002],
  ['a long ping', masked(0x89, Buffer.alloc(126)), 1002],
  ['a frame without a mask', Buffer.from([0x81, 1, 120]), 1002],
  ['half a character', masked(0x81, Buffer.from([0xc3])), 1007],
])('S-21: %s closes the link', async (_name, frame, code) => {
  const { near, far, wire } = await link()
  const got = listen(websocketTransport(far, wire))
  rawOf(near).write(frame)
  expect(await closing(near)).toBe(code)
  expect(got).toEqual([])
})

describe('S-21: control frames', () => {
  const [ping, pong] = [0x89, 0x8a]
  const flood = async (count: number) => {
    const { near, far, wire } = await link()
    const transport = websocketTransport(far, wire)
    const got = listen(transport, () => transport.close())
    const frames = Array.from({ length: count }, (_, i) => masked(i % 2 === 0 ? ping : pong))
    rawOf(near).write(Buffer.concat([...frames, masked(0x81, Buffer.from('alive'))]))
    return { code: await closing(near), got }
  }
  test('[S-57 controlFrames] at 10,000: the connection stays open', async () =>
    expect(await flood(10_000)).toEqual({ code: 1000, got: ['alive'] }))
  test('[S-57 controlFrames] past 10,000: the connection closes with 1008', async () =>
    expect(await flood(10_001)).toEqual({ code: 1008, got: [] }))
})

test('S-21: invalid UTF-8 closes with 1007; compression is not negotiated', async () => {
  const { near, far, wire } = await link()
  const got = listen(websocketTransport(far, wire))
  expect(near.extensions).toBe('')
  near.send(Buffer.from([0xc3, 0x28]), { binary: false })
  expect(await closing(near)).toBe(1007)
  expect(got).toEqual([])
})

test('S-21: pings are answered, and the pongs to a peer that does not read do not pile up', async () => {
  const { near, far, wire } = await link()
  websocketTransport(far, wire)
  near.ping('1')
  expect(String((await once(near, 'pong'))[0])).toBe('1')
  // A corked stream sends nothing, like the stream to a peer that does not read.
  wire.cork()
  for (let n = 0; n < 1000; n++) near.ping(`flood ${n}`)
  await events(far, 'ping', 1000)
  expect(far.bufferedAmount).toBeLessThan(200)
  const last = new Promise<void>((resolve) =>
    near.on('pong', (data) => {
      if (String(data) === 'flood 999') resolve()
    }),
  )
  wire.uncork()
  await last
})

test('[R1] close codes and reasons arrive in both directions; a long reason is shortened', async () => {
  const { near, far, wire } = await link()
  const [a, b] = [websocketTransport(far, wire), websocketTransport(near)]
  a.close(1013, 'ü'.repeat(100))
  await Promise.all([ended(a), ended(b)])
  expect(b.closed.reason).toBeInstanceOf(SocketClosed)
  expect(b.closed.reason).toMatchObject({ code: 1013, message: `closed with 1013: ${'ü'.repeat(61)}` })
  expect(a.closed.reason).toMatchObject({ code: 1013 })
})

test('[R1] a broken connection ends the transport and resolves drained()', async () => {
  const { near, far, wire } = await link()
  const transport = websocketTransport(far, wire)
  rawOf(near).pause()
  transport.send('x'.repeat(50_000_000))
  const drained = transport.drained()
  near.terminate()
  await Promise.all([drained, ended(transport)])
  expect(transport.closed.reason).toMatchObject({ code: 1006 })
})

const MiB = 1024 * 1024

/** The header of a client frame, with a mask of zeros. */
function head(first: number, length: number): Buffer {
  const bytes = Buffer.alloc(length < 126 ? 6 : 14)
  bytes[0] = first
  bytes[1] = 0x80 | (length < 126 ? length : 127)
  if (length >= 126) bytes.writeBigUInt64BE(BigInt(length), 2)
  return bytes
}

function masked(first: number, payload = Buffer.alloc(0)): Buffer {
  return Buffer.concat([head(first, payload.length), payload])
}

/** The raw socket, for frames that the library would not send. */
function rawOf(near: WebSocket): Socket {
  return (near as unknown as { _socket: Socket })._socket
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Both ends of a connection: `near` is the client's, `far` the server's, `wire` the stream below `far`. */
async function link() {
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

/** Counts the writes of a stream to the system; a batch counts once. */
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

function events(socket: WebSocket, name: 'message' | 'ping', count: number): Promise<void> {
  let seen = 0
  return new Promise((resolve) =>
    socket.on(name, () => {
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
