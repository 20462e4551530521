import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { pendingUpgradeLimits } from './pending-upgrades.ts'
import { ask, links, open, socketClosed, sockets, start, token, upgradeAt } from '../../test/http-client.ts'
import type { Headers } from '../../test/http-client.ts'

describe('before authentication (S-07)', () => {
  /** A head of `bytes` bytes as the parser counts: names and values of headers, without separators and request line. */
  const sized = async (bytes: number) => {
    const { port } = await start()
    const Host = `localhost:${port}`
    const counted = 'Host'.length + Host.length + 'X'.length + '/healthz'.length
    return (await ask(port, 'GET /healthz HTTP/1.1', { Host, X: 'x'.repeat(bytes - counted) })).status
  }
  test('[S-57 headBytes] at 8,192: a head is accepted', async () => expect(await sized(8192)).toBe(200))
  test.each([8193, 100_000])('[S-57 headBytes] past 8,192: a head of %d is answered 431', async (bytes) =>
    expect(await sized(bytes)).toBe(431),
  )

  test.each([
    ['sends nothing', ''],
    ['stops inside a header', 'GET / HTTP/1.1\r\nHost: local'],
    ['promises a body', 'POST /healthz HTTP/1.1\r\nContent-Length: 10\r\nHo'],
    ['does not send HTTP', '\u0016\u0003\u0001'],
  ])('a client that %s is disconnected', async (_name, bytes) => {
    const { port } = await start({ limits: { ...pendingUpgradeLimits, minAgeMs: 0, timeoutMs: 30 } })
    const socket = await open(port)
    socket.write(bytes)
    await socketClosed(socket)
    expect(socket.destroyed).toBe(true)
  })

  test('300 half-open sockets: 256 are kept, the oldest are closed, and a good client can connect', async () => {
    const { port } = await start({ limits: { ...pendingUpgradeLimits, minAgeMs: 0, timeoutMs: 600_000 } })
    const crowd: Socket[] = []
    for (let n = 0; n < 300; n++) {
      const socket = await open(port)
      socket.write('GET / HTTP/1.1\r\n')
      crowd.push(socket)
    }
    await Promise.all(crowd.slice(0, 44).map(socketClosed))
    expect(crowd.slice(44).filter(({ destroyed }) => destroyed)).toEqual([])
    const client = new WebSocket(`ws://127.0.0.1:${port}/?tkn=${token}`)
    await once(client, 'open')
    await socketClosed(crowd[44] as Socket)
    // A WebSocket does not count as pending.
    const later = await open(port)
    expect((crowd[45] as Socket).destroyed).toBe(false)
    expect(later.destroyed).toBe(false)
  })

  const half: readonly (readonly [string, (port: number) => string])[] = [
    ['silence', () => ''],
    ['half a head', () => 'GET / HTTP/1.1\r\nHost: localhost'],
    ['a head that never ends', () => `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(50)}`],
    [
      'a promised body',
      (port) => `POST /healthz HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 9\r\nX`,
    ],
  ]
  test('2,000 half-open upgrades of several kinds: 256 are kept, the others are closed, and good clients can connect', async () => {
    const { port } = await start({ limits: { ...pendingUpgradeLimits, minAgeMs: 0, timeoutMs: 600_000 } })
    const before = openFiles()
    const crowd: Socket[] = []
    for (let n = 0; n < 2000; n++) {
      const socket = await open(port)
      socket.resume()
      socket.write(half[n % half.length]?.[1](port) ?? '')
      crowd.push(socket)
      if (n % 500 === 250) {
        const client = new WebSocket(`ws://127.0.0.1:${port}/?tkn=${token}`)
        await once(client, 'open')
      }
    }
    await Promise.all(crowd.slice(0, -256).map(socketClosed))
    expect(crowd.slice(-256).filter(({ destroyed }) => destroyed)).toEqual([])
    // This process has both ends of 256 pending sockets and of four WebSockets.
    if (before > 0) expect(openFiles()).toBeLessThanOrEqual(before + 2 * (256 + 4))
    expect(links).toHaveLength(4)
  })

  test.each([
    ['no upgrade', { Connection: 'keep-alive' }, 404],
    ['another Connection header', { Connection: 'close, x' }, 404],
    ['no Upgrade', { Upgrade: undefined }, 404],
    ['a wrong token', { Authorization: 'Bearer x' }, 403],
    ['a wrong origin', { Origin: 'http://evil.com' }, 403],
    ['a wrong host', { Host: 'evil.com' }, 421],
    ['a broken key', { 'Sec-WebSocket-Key': 'x' }, 400],
    ['a head that is too long', { Host: 'x'.repeat(9000) }, 431],
  ])(
    '%s: 100 concurrent requests are answered, and every socket is closed',
    async (_name, headers, status) => {
      const { port } = await start({
        limits: { ...pendingUpgradeLimits, minAgeMs: 0, timeoutMs: 600_000 },
        now: clockInSteps(),
      })
      const before = openFiles()
      const answers = await Promise.all(Array.from({ length: 100 }, () => upgradeAt(port, headers)))
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]))
      for (const socket of sockets) await socketClosed(socket)
      if (before > 0) expect(openFiles()).toBeLessThanOrEqual(before)
      expect(links).toEqual([])
    },
  )

  test('[S-06] 100 requests with a wrong host are all answered 421, and do not fill the log', async () => {
    const reports: unknown[] = []
    const { port } = await start({ report: (event, detail) => reports.push({ event, detail }) })
    for (let n = 0; n < 50; n++) {
      expect((await ask(port, 'GET /healthz HTTP/1.1', { Host: 'evil.com' })).status).toBe(421)
      expect((await upgradeAt(port, { Host: 'evil.com' })).status).toBe(421)
    }
    expect(reports.length).toBeLessThanOrEqual(12)
    const client = new WebSocket(`ws://127.0.0.1:${port}/?tkn=${token}`)
    await once(client, 'open')
  })

  test('garbage is answered 400', async () => {
    const { port } = await start()
    expect((await ask(port, 'GARBAGE', {})).status).toBe(400)
  })
})

describe('[G9] failed tokens (S-06)', () => {
  /** Requests with wrong credentials, some with right ones as well. */
  const shapes: readonly ((n: number) => Headers)[] = [
    () => ({ Authorization: undefined }),
    (n) => ({ Authorization: `Bearer ${token.slice(0, -1)}${n % 10}` }),
    (n) => ({ Authorization: `Bearer ${n}` }),
    () => ({ Authorization: `Basic ${token}` }),
    (n) => ({ 'Sec-WebSocket-Protocol': `atrium.token.${n}` }),
    (n) => ({ Authorization: [`Bearer ${token}`, `Bearer ${n}`] }),
    (n) => ({
      Authorization: undefined,
      'Sec-WebSocket-Protocol': `a, atrium.token.${n}`,
      Cookie: `tkn=${token}`,
    }),
    () => ({ Origin: 'http://evil.com' }),
    () => ({ Origin: 'null' }),
  ]

  test('[G9.1] 10,000 failures from this machine: ten get 403, the others 429, always the same response; the owner can connect', async () => {
    const reports: { event: string; detail: unknown }[] = []
    let time = 0
    const report = (event: string, detail: unknown) => void reports.push({ event, detail })
    const { port } = await start({ report, now: () => time })
    const counts = new Map<number, number>()
    const bodies = new Map<number, Set<string>>()
    for (let n = 0; n < 10_000; n += 50) {
      const upgrades = Array.from({ length: 50 }, (_, i) =>
        upgradeAt(port, shapes[(n + i) % shapes.length]?.(n + i)),
      )
      for (const { status, raw } of await Promise.all(upgrades)) {
        counts.set(status, (counts.get(status) ?? 0) + 1)
        bodies.set(status, (bodies.get(status) ?? new Set()).add(raw))
      }
      if (n % 2000 !== 0) continue
      const client = new WebSocket(`ws://127.0.0.1:${port}/?tkn=${token}`)
      await once(client, 'open')
    }
    expect(counts).toEqual(
      new Map([
        [403, 10],
        [429, 9990],
      ]),
    )
    expect([...bodies.values()].map((seen) => seen.size)).toEqual([1, 1])
    expect([...(bodies.get(429) ?? [])][0]).toContain('\r\nretry-after: 60\r\n')
    // One log line for each of the ten, and one for each limit that was reached.
    expect(reports.map(({ event }) => event)).toEqual([
      ...Array<string>(10).fill('refused'),
      'too many failures',
      'too many failures',
    ])
    expect(JSON.stringify(reports)).not.toContain(token.slice(0, -1))
    expect(links).toHaveLength(5)
    // The next wait is longer.
    time = 60_000
    const again = await Promise.all(
      Array.from({ length: 11 }, () => upgradeAt(port, { Authorization: undefined })),
    )
    expect(again.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(10).fill(403),
      429,
    ])
    expect(again.find(({ status }) => status === 429)?.raw).toContain('\r\nretry-after: 120\r\n')
  })

  test('a right token with a wrong origin gets the same response as a wrong token', async () => {
    const { port } = await start({ now: () => 0 })
    for (let n = 0; n < 10; n++) await upgradeAt(port, { Authorization: undefined })
    const [right, wrong] = await Promise.all([
      upgradeAt(port, { Origin: 'http://evil.com' }),
      upgradeAt(port, { Origin: 'http://evil.com', Authorization: 'Bearer x' }),
    ])
    expect(right.status).toBe(429)
    expect(right.raw).toBe(wrong.raw)
  })

  test('other requests and refusals are neither counted nor blocked', async () => {
    const { port } = await start({ now: () => 0 })
    const Host = `localhost:${port}`
    for (let n = 0; n < 20; n++) expect((await upgradeAt(port, { Host: 'evil.com' })).status).toBe(421)
    for (let n = 0; n < 11; n++)
      expect((await upgradeAt(port, { Authorization: undefined })).status).toBe(n < 10 ? 403 : 429)
    expect((await ask(port, 'GET /healthz HTTP/1.1', { Host })).status).toBe(200)
    expect((await upgradeAt(port, { Host: 'evil.com' })).status).toBe(421)
  })
})

/** The number of open files of this process; 0 on a system without `/proc`. */
function openFiles(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0
}

/** A clock that advances by more than a window between two failures. */
function clockInSteps(): () => number {
  let time = 0
  return () => (time += 3_700_000)
}
