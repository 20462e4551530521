import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { links, open, responseOf, start, token } from '../../test/http-client.ts'
import { MemoryDevices } from '../../test/server/known-devices.ts'
import type { ListenOptions, Listening } from './server.ts'

const script = 'console.log("the page")\n'.repeat(20)

function folder(): string {
  const place = mkdtempSync(join(tmpdir(), 'atrium-page-'))
  mkdirSync(join(place, 'assets'))
  writeFileSync(join(place, 'index.html'), '<!doctype html>')
  writeFileSync(join(place, 'assets', 'main-1.js'), script)
  writeFileSync(join(place, 'assets', 'main-1.js.gz'), gzipSync(script))
  writeFileSync(join(place, 'notes.txt'), 'not of the page')
  return place
}

const startPage = (options: Partial<ListenOptions> = {}) =>
  start({ page: { folder: folder() }, devices: new MemoryDevices(), ...options })

const at = ({ port }: Listening, path: string, init?: RequestInit) =>
  fetch(`http://127.0.0.1:${port}${path}`, init)

const json = { 'content-type': 'application/json', 'x-atrium': 'enter' }
const post = (listening: Listening, path: string, body: object, headers: Record<string, string> = {}) =>
  at(listening, path, {
    method: 'POST',
    headers: { ...json, origin: `http://127.0.0.1:${listening.port}`, ...headers },
    body: JSON.stringify(body),
  })

/** The answer to a request to enter. The host's own tests know its shape: hence the cast. */
const fields = async (response: Response) => (await response.json()) as { readonly [key: string]: string }

/** Enters as the page does. Returns a function that gets a ticket. */
async function enter(listening: Listening): Promise<() => Promise<string>> {
  const code = decodeURIComponent(new URL(listening.pageLink() ?? '').hash.slice('#code='.length))
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
  const { credential } = await fields(await post(listening, '/enter/redeem', { code, publicKey: key }))
  return async () => {
    const { challenge } = await fields(await post(listening, '/enter/challenge', {}))
    const text = Buffer.from(`atrium ticket ${challenge}`)
    const signature = sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    const signed = { credential, challenge, signature: signature.toString('base64url') }
    return (await fields(await post(listening, '/enter/ticket', signed)))['ticket'] ?? ''
  }
}

test('[G10] [S-45] files of the page are served with a policy, an ETag and compressed; HEAD has no body', async () => {
  const host = await startPage()
  const page = await at(host, '/')
  expect(page.status).toBe(200)
  expect(await page.text()).toBe('<!doctype html>')
  expect(page.headers.get('cache-control')).toBe('no-cache')
  expect(page.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'; style",
  )
  expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
  expect(page.headers.get('x-frame-options')).toBe('DENY')
  const etag = page.headers.get('etag') ?? ''
  expect((await at(host, '/', { headers: { 'if-none-match': `"x", ${etag}` } })).status).toBe(304)
  const asset = await at(host, '/assets/main-1.js')
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(asset.headers.get('content-encoding')).toBe('gzip')
  expect(await asset.text()).toBe(script)
  const plain = await at(host, '/assets/main-1.js', { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  const head = await at(host, '/assets/main-1.js', { method: 'HEAD' })
  expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' })
  expect(gunzipSync(gzipSync(script)).toString()).toBe(script)
})

test('[G10] [S-45] other paths are 404, also those that lead out of the folder; other methods are 405', async () => {
  const host = await startPage()
  const nothing = ['/index.htm', '/notes.txt', '/assets', '/assets/', '/assets/main-1.js.gz', '//etc/passwd']
  for (const path of [...nothing, '/assets/..%2f..%2fpackage.json', '/__proto__', '/constructor'])
    expect({ path, status: (await at(host, path)).status }).toEqual({ path, status: 404 })
  const socket = await open(host.port)
  socket.write(`GET /assets/../../token HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`)
  expect(await responseOf(socket)).toMatch(/^HTTP\/1.1 404/)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const refused = await at(host, '/', { method })
    expect({ status: refused.status, allow: refused.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'GET, HEAD',
    })
    expect(await refused.text()).toBe('This address can only be read.\n')
  }
  expect((await at(host, '/enter/redeem')).status).toBe(405)
  expect((await at(await start(), '/')).status).toBe(404)
})

test('[G11] a socket may ask for several files, one after the other', async () => {
  const host = await startPage()
  const socket = await open(host.port)
  let text = ''
  socket.on('data', (data) => void (text += data.toString('latin1')))
  for (let count = 1; count <= 12; count++) {
    socket.write(`GET /assets/main-1.js HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n\r\n`)
    while (text.split(script).length <= count) await once(socket, 'data')
  }
  expect(socket.destroyed).toBe(false)
})

test('[S-57 pageSockets] at 64 sockets each is answered; [S-57 pageSockets] past 64 the answer is 503', async () => {
  expect(limits.pageSockets).toBe(64)
  // Requests to enter whose bodies do not come keep their sockets.
  const host = await startPage({ pageLimits: { max: 2, ms: limits.pageMs } })
  const waiting = [await open(host.port), await open(host.port)]
  const lines = Object.entries({ ...json, Host: `127.0.0.1:${host.port}`, 'content-length': '2' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const origin = `Origin: http://127.0.0.1:${host.port}\r\n`
  for (const socket of waiting) socket.write(`POST /enter/challenge HTTP/1.1\r\n${head}${origin}\r\n`)
  let refused = await at(host, '/')
  while (refused.status !== 503) refused = await at(host, '/')
  expect(refused.headers.get('retry-after')).toBe('1')
  const [first] = waiting
  first?.write('{}')
  if (first) await once(first, 'data')
  while ((await at(host, '/')).status !== 200);
})

test('[S-57 pageMs] at 30,000 ms an answer may end; [S-57 pageMs] past 30,000 its socket is destroyed', async () => {
  expect(limits.pageMs).toBe(30_000)
  const host = await startPage({ pageLimits: { max: 2, ms: 50 } })
  const socket = await open(host.port)
  const lines = { ...json, Host: `127.0.0.1:${host.port}`, Origin: `http://127.0.0.1:${host.port}` }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /enter/challenge HTTP/1.1\r\n${head.join('')}content-length: 2\r\n\r\n`)
  expect(await responseOf(socket)).toBe('')
})

test('[G12] [G14] [S-08] the page enters with the code of its link and opens one WebSocket with each ticket', async () => {
  const host = await startPage()
  const ticket = await enter(host)
  const origin = `http://127.0.0.1:${host.port}`
  const first = await ticket()
  const socket = new WebSocket(host.url, ['atrium', `atrium.ticket.${first}`], { origin })
  await once(socket, 'open')
  expect(socket.protocol).toBe('atrium')
  expect(links.length).toBe(1)
  const refused = async (protocols: string[], options: object) => {
    const each = new WebSocket(host.url, protocols, options)
    const [error] = await once(each, 'error')
    expect(String(error)).toContain('403')
  }
  await refused(['atrium', `atrium.ticket.${first}`], { origin })
  await refused(['atrium', `atrium.ticket.${await ticket()}`], {})
  await refused(['atrium', `atrium.ticket.${await ticket()}`], { origin: 'vscode-file://vscode-app' })
  await refused(['atrium', `atrium.ticket.${await ticket()}`, `atrium.ticket.${await ticket()}`], { origin })
  await refused(['atrium', `atrium.ticket.${await ticket()}`, `atrium.token.${token}`], { origin })
  expect(links.length).toBe(1)
  socket.terminate()
})

test('[G13] [G13.1] [S-45] a request to enter from elsewhere is refused, in the same bytes whatever is wrong', async () => {
  const host = await startPage()
  const text = async (path: string, body: object, headers: Record<string, string>) => {
    const response = await post(host, path, body, headers)
    return `${response.status} ${await response.text()}`
  }
  const one = await text('/enter/redeem', { code: 'wrong', publicKey: 'x' }, {})
  expect(one).toMatch(/^403 /)
  expect(await text('/enter/redeem', {}, { origin: 'http://evil.example' })).toBe(one)
  expect(await text('/enter/ticket', { credential: 'x', challenge: 'y', signature: 'z' }, {})).toBe(one)
  expect(await text('/enter/code', {}, {})).toBe(one)
  expect(await text('/enter/code', {}, { authorization: `Bearer ${token.slice(1)}` })).toBe(one)
  expect(await text('/enter/redeem', {}, { 'content-type': 'text/plain' })).toMatch(/^415 /)
  expect(await text('/enter/redeem', {}, { 'x-atrium': '' })).toMatch(/^415 /)
  expect(await text('/enter/redeem', [], {})).toMatch(/^400 /)
  expect(await text('/enter/redeem', { code: 7 }, {})).toMatch(/^400 /)
  expect(await text('/enter/code', {}, { authorization: `Bearer ${token}` })).toMatch(/^200 .*"code"/)
})

test('[G13] [G9] [G13.1] failed attempts to enter are limited, and a right code is still accepted', async () => {
  const host = await startPage()
  const statuses: number[] = []
  for (let tries = 0; tries < limits.failures + 2; tries++)
    statuses.push((await post(host, '/enter/redeem', { code: 'wrong', publicKey: '' })).status)
  expect(statuses).toEqual([...Array.from({ length: limits.failures }, () => 403), 429, 429])
  expect(await (await enter(host))()).toMatch(/^[\w-]{43}$/)
})

test('[S-57 enterBytes] at 4,096 bytes a request is read; [S-57 enterBytes] past 4,096 the answer is 413', async () => {
  const host = await startPage()
  const sized = (bytes: number) => ({ code: 'x'.repeat(bytes - '{"code":""}'.length) })
  expect((await post(host, '/enter/redeem', sized(limits.enterBytes))).status).toBe(403)
  expect((await post(host, '/enter/redeem', sized(limits.enterBytes + 1))).status).toBe(413)
})

test('[G13] [G3] behind a proxy with TLS, the page of an allowed name may enter', async () => {
  const { port } = await startPage({ allowHosts: ['atrium.example'] })
  const challenge = async (Origin: string) => {
    const socket = await open(port)
    const headers = { ...json, Host: 'atrium.example', Origin, 'content-length': '2', connection: 'close' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`POST /enter/challenge HTTP/1.1\r\n${lines.join('')}\r\n{}`)
    return Number((await responseOf(socket)).split(' ')[1])
  }
  expect(await challenge('https://atrium.example')).toBe(200)
  expect(await challenge('https://atrium.example:8443')).toBe(403)
  expect(await challenge('https://evil.example')).toBe(403)
})

test.each([token, undefined])(
  '[G13] [G13.1] without room for another device, a right code or token gets the reason (token of the host: %s)',
  async (own) => {
    const devices = new MemoryDevices()
    const host = await startPage({ devices, token: own })
    const codes = Array.from({ length: 2 }, () => devices.browserCode())
    devices.fill()
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
    const bearer = { authorization: `Bearer ${token}` }
    const answers = [
      await post(host, '/enter/redeem', { code: codes[0], publicKey: key }),
      ...(own === undefined ? [] : [await post(host, '/enter/code', {}, bearer)]),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(409)
      expect(await fields(answer)).toEqual({ problem: 'revoke a device first' })
    }
    const paired = await post(host, '/pair', { code: codes[1] })
    expect([paired.status, await paired.text()]).toEqual([409, 'revoke a device first\n'])
    if (own === undefined) return
    // A wrong code does not tell whether there is room.
    expect((await post(host, '/enter/redeem', { code: 'wrong', publicKey: key })).status).toBe(403)
    expect((await post(host, '/pair', { code: 'wrong' })).status).toBe(403)
  },
)
