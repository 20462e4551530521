import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { connect as dial } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as dialTls } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { exposureProblem, hostsOf } from './address.ts'
import { pendingUpgradeLimits } from './pending-upgrades.ts'
import { routes } from './responses.ts'
import { listen } from './server.ts'
import type { ListenOptions, Listening } from './server.ts'

const token = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'
const links: Transport[] = []
const listenings: Listening[] = []
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  const closing = listenings.splice(0).map((listening) => listening.close())
  for (const link of links.splice(0)) link.close()
  await Promise.all(closing)
})

describe('routes and Host (S-04)', () => {
  test('/healthz needs no token, /readyz tells readiness, other paths are 404', async () => {
    let ready = false
    const { port } = await start({ ready: () => ready })
    const Host = `localhost:${port}`
    expect(await ask(port, 'GET /healthz HTTP/1.1', { Host })).toMatchObject({ status: 200, body: 'ok\n' })
    expect(await ask(port, 'GET /readyz HTTP/1.1', { Host })).toMatchObject({
      status: 503,
      body: 'not ready\n',
    })
    expect((await upgradeAt(port)).status).toBe(503)
    ready = true
    expect(await ask(port, 'GET /readyz?x HTTP/1.1', { Host })).toMatchObject({
      status: 200,
      body: 'ready\n',
    })
    for (const line of [
      'GET /',
      'GET /healthz/',
      'GET /__proto__',
      'POST /healthz',
      'DELETE /readyz',
      'OPTIONS /',
    ])
      expect((await ask(port, `${line} HTTP/1.1`, { Host })).status).toBe(404)
  })

  test.each([...routes.keys(), '/', '/nowhere'])(
    '[G1] %s answers 421 to every foreign Host',
    async (path) => {
      const { port } = await start()
      const get = `GET ${path} HTTP/1.1`
      const ours = `127.0.0.1:${port}`
      const authority = { Authorization: `Bearer ${token}` }
      const answers = [
        ask(port, get, { ...authority, Host: 'evil.com' }),
        ask(port, get, { ...authority, Host: `127.0.0.1:${port + 1}` }),
        ask(port, get, { ...authority, Host: 'localhost' }),
        ask(port, get, { ...authority, Host: '' }),
        ask(port, get, authority),
        ask(port, `GET ${path} HTTP/1.0`, authority),
        ask(port, get, { ...authority, Host: [ours, 'evil.com'] }),
        ask(port, get, { ...authority, Host: ['evil.com', ours] }),
        ask(port, `GET http://evil.com${path} HTTP/1.1`, { ...authority, Host: ours }),
        ask(port, get, { ...authority, Host: 'evil.com', Expect: '100-continue' }),
        ask(port, get, { ...authority, Host: 'evil.com', Expect: 'wonders' }),
        ask(port, `CONNECT evil.com:443 HTTP/1.1`, { ...authority, Host: ours }),
        ask(port, get, { ...authority, ...upgrading, Host: 'evil.com' }),
        ask(port, get, { ...authority, ...upgrading }),
      ]
      for (const { status, body } of await Promise.all(answers))
        expect({ status, body }).toEqual({ status: 421, body: 'Misdirected Request\n' })
      expect(links).toEqual([])
    },
  )

  test('[G2] an absolute target with an own host is served', async () => {
    const { port } = await start()
    const line = `GET http://localhost:${port}/healthz HTTP/1.1`
    expect((await ask(port, line, { Host: `localhost:${port}` })).status).toBe(200)
  })
})

describe('upgrades', () => {
  test('are accepted on any path, with the token in any of three parts, and carry text', async () => {
    const { port } = await start()
    const base = `ws://127.0.0.1:${port}`
    const clients = [
      new WebSocket(`${base}/?tkn=${token}`),
      new WebSocket(`${base}/any/path`, { headers: { Authorization: `Bearer ${token}` } }),
      new WebSocket(base, ['ahp', `atrium.token.${token}`], { origin: 'vscode-file://vscode-app' }),
    ]
    await Promise.all(clients.map((client) => once(client, 'open')))
    expect(clients.map(({ protocol }) => protocol)).toEqual(['', '', 'ahp'])
    expect(links.length).toBe(3)
    for (const link of links) link.receive((frame) => link.send(`you said ${frame}`))
    const answers = clients.map((client) => once(client, 'message'))
    for (const client of clients) client.send('hello')
    for (const [data] of await Promise.all(answers)) expect(String(data)).toBe('you said hello')
  })

  test('[G8] all refusals of a token or an origin are the same response (S-02, S-03, S-27)', async () => {
    const reports: unknown[] = []
    const { port } = await start({ report: (event, detail) => reports.push({ event, detail }) })
    const refused = await Promise.all([
      upgradeAt(port, { Authorization: undefined }),
      upgradeAt(port, { Authorization: `Bearer ${token.slice(1)}` }),
      upgradeAt(port, { Authorization: 'Basic eDp5' }),
      upgradeAt(port, { Origin: 'http://evil.com' }),
      upgradeAt(port, { Origin: 'null' }),
    ])
    for (const { raw } of refused) expect(raw).toBe(refused[0]?.raw)
    expect(refused[0]).toMatchObject({ status: 403, body: 'Forbidden\n' })
    expect(reports).toContainEqual({ event: 'refused', detail: { why: 'origin', origin: 'http://evil.com' } })
    expect(JSON.stringify(reports)).not.toContain(token.slice(1))
    expect(links).toEqual([])
  })

  test.each([
    ['another upgrade', { Upgrade: 'h2c' }],
    ['no key', { 'Sec-WebSocket-Key': undefined }],
    ['an old version', { 'Sec-WebSocket-Version': '7' }],
    ['a broken protocol list', { 'Sec-WebSocket-Protocol': ',,' }],
  ])('S-07: %s is refused and its socket is closed', async (_name, headers) => {
    const { port } = await start()
    expect((await upgradeAt(port, headers)).status).toBe(400)
    expect(links).toEqual([])
  })

  test('a host without a token accepts its own pages and programs only', async () => {
    const { port } = await start({ token: undefined })
    const statuses = [{}, { Origin: `http://127.0.0.1:${port}` }, { Origin: 'vscode-file://vscode-app' }].map(
      (headers) => upgradeAt(port, { Authorization: undefined, ...headers }),
    )
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([101, 101, 403])
  })
})

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

  test('S-06: 100 requests with a wrong host are all answered 421, and do not fill the log', async () => {
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

  test('10,000 failures from this machine: ten get 403, the others 429, always the same response; the owner can connect', async () => {
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

describe('addresses (S-01, S-13)', () => {
  test('the default is the loopback address', async () => {
    const { port, urls, url } = await start({ host: ' ' })
    expect(url).toBe(`ws://127.0.0.1:${port}/`)
    if (!existsSync('/proc/net/tcp')) return console.log('skipped: no /proc')
    const four = boundTo('/proc/net/tcp', port)
    expect(four).toEqual(['0100007F'])
    const six = existsSync('/proc/net/tcp6') ? boundTo('/proc/net/tcp6', port) : []
    expect(six).toEqual(urls.length === 2 ? ['00000000000000000000000001000000'] : [])
  })

  test.each([
    '0.0.0.0',
    '::',
    '[::]',
    '0',
    '192.168.1.5',
    'example.com',
    '127.1',
    '0x7f.1',
    '::ffff:0.0.0.0',
    '*',
  ])('%s is refused without TLS and a token', async (host) => {
    await expect(start({ host })).rejects.toThrow('needs TLS')
    await expect(start({ host, token: undefined })).rejects.toThrow('needs a token')
    await expect(start({ host, token: undefined, tls })).rejects.toThrow('needs a token')
    expect(exposureProblem({ host }, true, true)).toBeUndefined()
  })

  test.each([undefined, '', ' ', 'localhost', '127.0.0.1', '127.0.0.53', '::1', '[::1]', '::ffff:127.0.0.1'])(
    '%j is a loopback address',
    (host) => {
      expect(exposureProblem({ host }, false, false)).toBeUndefined()
      expect(hostsOf({ host }).length).toBeGreaterThan(0)
    },
  )

  test('a taken port is an error; port 0 finds a free one', async () => {
    const { port } = await start()
    await expect(start({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect((await start({ port: 0 })).port).not.toBe(port)
  })

  test('a text that is not an origin is refused', async () => {
    await expect(start({ allowOrigins: ['*'] })).rejects.toThrow("'*' is not an origin")
  })

  test('a TLS port answers neither plain text nor TLS 1.1', async () => {
    const { port, url } = await start({ host: '0.0.0.0', tls })
    expect(url).toBe(`wss://0.0.0.0:${port}/`)
    const plain = await open(port)
    plain.write(`GET /healthz HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
    expect(await responseOf(plain)).not.toContain('HTTP/')
    const old = dialTls({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.1' })
    expect(await once(old, 'error')).toHaveLength(1)
    const client = new WebSocket(`wss://127.0.0.1:${port}/?tkn=${token}`, { rejectUnauthorized: false })
    await once(client, 'open')
    links[0]?.receive((frame) => links[0]?.send(frame.toUpperCase()))
    client.send('hello')
    expect(String((await once(client, 'message'))[0])).toBe('HELLO')
  })

  test('a unix socket is private, replaces an abandoned one, and replaces no other file', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'atrium-')), 'sock')
    const killed =
      "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
    spawnSync(process.execPath, ['-e', killed, path])
    expect(existsSync(path)).toBe(true)
    const { url } = await start({ socket: path, token: undefined })
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    const client = new WebSocket(url)
    await once(client, 'open')
    expect(links.length).toBe(1)
    await expect(start({ socket: path })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    const file = `${path}.txt`
    writeFileSync(file, '')
    await expect(start({ socket: file })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  test('close accepts no more clients and waits for the last connection', async () => {
    const listening = await start()
    const { port } = listening
    const client = new WebSocket(`ws://127.0.0.1:${port}/?tkn=${token}`)
    await once(client, 'open')
    const idle = await open(port)
    let done = false
    const closed = listening.close().then(() => (done = true))
    await socketClosed(idle)
    await expect(open(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(done).toBe(false)
    links[0]?.close(1001)
    expect((await once(client, 'close'))[0]).toBe(1001)
    await closed
  })
})

async function start(options: Partial<ListenOptions> = {}): Promise<Listening> {
  const connect = (link: Transport, principal: string): void => {
    expect(principal).toBe('owner')
    links.push(link)
  }
  const listening = await listen({ token, connect, ...options })
  listenings.push(listening)
  return listening
}

interface Headers {
  readonly [name: string]: string | readonly string[] | undefined
}

const upgrading = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Sends an upgrade request that is accepted, with some headers replaced. */
function upgradeAt(port: number, headers: Headers = {}): ReturnType<typeof ask> {
  const all = { Host: `127.0.0.1:${port}`, ...upgrading, Authorization: `Bearer ${token}`, ...headers }
  return ask(port, 'GET / HTTP/1.1', all)
}

/** Sends a request head, and reads until the server closes the socket or accepts the upgrade. */
async function ask(port: number, line: string, headers: Headers) {
  const socket = await open(port)
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}`),
  )
  socket.write([line, ...lines, '', ''].join('\r\n'))
  const raw = await responseOf(socket)
  const [head = '', body = ''] = raw.split('\r\n\r\n')
  const status = Number(head.split(' ')[1])
  return { status, body, raw }
}

async function open(port: number): Promise<Socket> {
  const socket = dial(port, '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  socket.on('error', () => {})
  return socket
}

function responseOf(socket: Socket): Promise<string> {
  let text = ''
  return new Promise((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (text.startsWith('HTTP/1.1 101')) resolve(text)
    })
    socket.once('close', () => resolve(text.replace(/\r\nDate: [^\r]*/i, '')))
  })
}

/** The number of open files of this process; 0 on a system without `/proc`. */
function openFiles(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0
}

/** A clock that advances by more than a window between two failures. */
function clockInSteps(): () => number {
  let time = 0
  return () => (time += 3_700_000)
}

async function socketClosed(socket: Socket): Promise<void> {
  socket.resume()
  if (!socket.destroyed) await once(socket, 'close')
}

/** The local addresses that listen (state 0A) on a port, in the kernel's notation. */
function boundTo(path: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(path, 'utf8').split('\n').slice(1)
  return rows.flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/)
    return state === '0A' && local.endsWith(suffix) ? [local.slice(0, -suffix.length)] : []
  })
}

/** A certificate that was generated for this test only. */
const tls = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmRIgg9j5GpMmBJ60
CQu+LOU59bD2xed8E9kU5rd4DhmhRANCAARrvpK3N18E34v0ALTmR5+2TSbW+eW9
2twHyt/wT75xOxNmyXH5KccUzyNkTQq6EsMB1FeutlI/B5maHhYTqniS
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUNUdKHhAwVoSa8ItKcjRtme+ux8YwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTA0MTExMloYDzIxMjYxMDIy
MDQxMTEyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARrvpK3N18E34v0ALTmR5+2TSbW+eW92twHyt/wT75xOxNmyXH5KccU
zyNkTQq6EsMB1FeutlI/B5maHhYTqniSo28wbTAdBgNVHQ4EFgQUjDyMvnzFnSjE
+x9RAIkCFdnz79swHwYDVR0jBBgwFoAUjDyMvnzFnSjE+x9RAIkCFdnz79swDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAI9nm9oo1tayuJG3ry1Ogm9oXueVpG0Dg8Vtu3hMeTEjAiEA
v+qRbM3pRw+tcpRmN3HjuE1tmJSu7uqobN8nVOOB/5c=
-----END CERTIFICATE-----
`,
}
