import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as dialTls } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { exposureProblem, hostsOf } from './address.ts'
import { links, open, responseOf, socketClosed, start, token } from '../../test/http-client.ts'
import { certificate as tls } from '../../test/server/certificate.ts'

describe('[S-01] [S-13] addresses', () => {
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
    const path = join(mkdtempSync(join(tmpdir(), 'atrium-')), 'a sock')
    const killed =
      "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
    spawnSync(process.execPath, ['-e', killed, path])
    expect(existsSync(path)).toBe(true)
    const { url } = await start({ socket: path, token: undefined })
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(url).toBe(`ws+unix:${pathToFileURL(path).pathname}:/`)
    const client = new WebSocket('ws://localhost/', { createConnection: () => connect(path) })
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

/** The local addresses that listen (state 0A) on a port, in the kernel's notation. */
function boundTo(path: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(path, 'utf8').split('\n').slice(1)
  const own = ownSockets()
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/)
    return state === '0A' && local.endsWith(suffix) && own.has(inode) ? [local.slice(0, -suffix.length)] : []
  })
}

/** The inodes of the sockets of this process. Another process may listen on the same port at another address. */
function ownSockets(): ReadonlySet<string> {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // The descriptor of the listing itself is closed already.
      return ''
    }
  })
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
}
