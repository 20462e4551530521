import { EventEmitter, once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer, connect as dial } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { keepAlive } from './heartbeat.ts'
import { listen } from './server.ts'

/** The members of a WebSocket that the heartbeat uses. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  bufferedAmount = 0
  isPaused = false
  pings = 0
  ping = () => void this.pings++
  terminate = () => void this.emit('close')
}

const beating = (socket: FakeSocket, wire: { bytesRead: number }) =>
  keepAlive(socket as unknown as WebSocket, wire)

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] }))
afterEach(() => void vi.useRealTimers())

test('[F-19] [F-19.1] a silent peer is pinged and then terminated; any byte counts as a sign of life', () => {
  const [socket, wire] = [new FakeSocket(), { bytesRead: 100 }]
  const ended = vi.fn<() => void>()
  socket.on('close', ended)
  beating(socket, wire)
  vi.advanceTimersByTime(20_000)
  expect(socket.pings).toBe(4)
  wire.bytesRead++
  vi.advanceTimersByTime(25_000)
  expect(ended).not.toHaveBeenCalled()
  vi.advanceTimersByTime(5000)
  expect(ended).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('[F-19.1] a busy peer is not pinged, and a slow reader of a long message gets more time', () => {
  const [socket, wire] = [new FakeSocket(), { bytesRead: 0 }]
  beating(socket, wire)
  for (; wire.bytesRead < 10; wire.bytesRead++) vi.advanceTimersByTime(5000)
  expect(socket.pings).toBeLessThanOrEqual(1)
  socket.bufferedAmount = 256_000 * 100
  vi.advanceTimersByTime(100_000)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(30_000)
  expect(vi.getTimerCount()).toBe(0)
})

test('[F-19.2] a host that wakes after an hour of sleep keeps its connections', () => {
  beating(new FakeSocket(), { bytesRead: 0 })
  vi.advanceTimersByTime(5000)
  vi.setSystemTime(Date.now() + 3_600_000)
  vi.advanceTimersByTime(5000)
  expect(vi.getTimerCount()).toBe(1)
})

test('[F-19.1] [H4] [H4.11] a peer that the host does not read from does not count as silent', () => {
  const [socket, wire] = [new FakeSocket(), { bytesRead: 0 }]
  beating(socket, wire)
  socket.isPaused = true
  vi.advanceTimersByTime(1_000_000)
  expect(vi.getTimerCount()).toBe(1)
  socket.isPaused = false
  vi.advanceTimersByTime(30_000)
  expect(vi.getTimerCount()).toBe(0)
})

test('[F-19] a half-open connection is terminated, and a quiet but living one is not', async () => {
  vi.useRealTimers()
  const ended = new EventEmitter()
  const listening = await listen({
    port: 0,
    token: undefined,
    heartbeat: { pingMs: 5, deadMs: 20 },
    connect: (transport) =>
      transport.receive((name) => transport.closed.addEventListener('abort', () => ended.emit('link', name))),
  })
  const hole = await blackHole(listening.port)
  const quiet = new WebSocket(listening.url)
  const gone = new WebSocket(`ws://127.0.0.1:${hole.port}/`, {
    headers: { host: `127.0.0.1:${listening.port}` },
  })
  await Promise.all([once(quiet, 'open'), once(gone, 'open')])
  quiet.send('quiet')
  gone.send('gone')
  for (let n = 0; n < 20; n++) await once(quiet, 'ping')
  const first = once(ended, 'link')
  hole.open = false
  await hole.freed
  expect(await first).toEqual(['gone'])
  expect(quiet.readyState).toBe(quiet.OPEN)
  quiet.close()
  gone.terminate()
  await listening.close()
})

/** A proxy that drops all bytes once `open` is false. */
async function blackHole(to: number) {
  const hole = { port: 0, open: true, freed: Promise.resolve<unknown>(undefined) }
  const server = createServer((near) => {
    const far = dial(to, '127.0.0.1')
    hole.freed = once(far, 'close').then(() => server.close())
    const pass = (from: Socket, into: Socket) =>
      from.on('error', () => {}).on('data', (bytes: Buffer) => hole.open && into.write(bytes))
    pass(near, far)
    pass(far, near)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  hole.port = (server.address() as AddressInfo).port
  return hole
}
