import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { routes } from './responses.ts'
import {
  ask,
  links,
  open,
  responseOf,
  socketClosed,
  start,
  token,
  upgradeAt,
  upgrading,
} from '../../test/http-client.ts'

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

  test('[D11] /metrics needs the token, and is there only if the host has metrics', async () => {
    const { port } = await start({ metrics: () => 'atrium_links 1\n' })
    const Host = `localhost:${port}`
    const get = 'GET /metrics HTTP/1.1'
    expect(await ask(port, get, { Host, Authorization: `Bearer ${token}` })).toMatchObject({
      status: 200,
      body: 'atrium_links 1\n',
    })
    for (const Authorization of [undefined, 'Bearer wrong'])
      expect((await ask(port, get, { Host, Authorization })).status).toBe(403)
    expect((await ask(port, get, { Host: 'evil.com', Authorization: `Bearer ${token}` })).status).toBe(421)
    const { port: other } = await start()
    expect((await ask(other, get, { Host: `localhost:${other}` })).status).toBe(404)
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

  test('[F-20] [F-25] a message whose bytes come one by one is whole; a link that breaks within it has not sent it', async () => {
    const { port } = await start()
    const lines = { Host: `127.0.0.1:${port}`, ...upgrading, Authorization: `Bearer ${token}` }
    const head = ['GET / HTTP/1.1', ...Object.entries(lines).map(([name, value]) => `${name}: ${value}`)]
    const text = '{"id":1}'
    // A text frame of a client: the length, a mask of zeros, the text.
    const frame = Buffer.from([0x81, 0x80 + text.length, 0, 0, 0, 0, ...Buffer.from(text)])
    for (let sent = 0; sent <= frame.length; sent++) {
      const socket = (await open(port)).setNoDelay()
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      await responseOf(socket)
      const got: string[] = []
      const link = links.at(-1)
      if (!link) throw new Error('there is no link')
      link.receive((message) => got.push(message))
      for (const byte of frame.subarray(0, sent))
        await new Promise((done) => socket.write(Buffer.of(byte), done))
      socket.end()
      await socketClosed(socket)
      if (!link.closed.aborted) await once(link.closed, 'abort')
      expect({ sent, got }).toEqual({ sent, got: sent < frame.length ? [] : [text] })
    }
  })

  test('[G8] [S-02] [S-03] all refusals of a token or an origin are the same response (S-27)', async () => {
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
  ])('[S-07] %s is refused and its socket is closed', async (_name, headers) => {
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
