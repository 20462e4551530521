import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer, connect as dial } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { bin, portOf } from '../../test/command.ts'
import { readyIn } from '../../test/host-process.ts'
import { RawClient } from '../../test/raw-client.ts'

const running: Running[] = []
let home = ''
let data = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'atrium-serve-'))
  data = join(home, 'data')
})
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL')
})

test('[D7] the first line has the address; the host answers there, and stops at SIGTERM', async () => {
  const { child, first, exit, err } = await serve('--json', '--port', '0')
  const ready = readyIn(first)
  const port = new URL(ready.url).port
  expect(first).toBe(
    `{"event":"ready","url":"ws://127.0.0.1:${port}/","token":"${ready.token}","pid":${child.pid}}`,
  )
  expect(statSync(data).mode & 0o777).toBe(0o700)
  const client = new WebSocket(`${ready.url}?tkn=${ready.token}`)
  await once(client, 'open')
  client.send('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}')
  expect(JSON.parse(String((await once(client, 'message'))[0]))).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: null,
  })
  const closed = once(client, 'close')
  child.kill('SIGTERM')
  expect((await closed)[0]).toBe(1001)
  expect(await exit).toBe(0)
  expect(err()).not.toContain(ready.token)
})

test('[Z1] commands find a host on a unix socket, also if its path has characters that a URL encodes', async () => {
  const path = join(home, 'a b%41')
  const { first } = await serve('--json', '--socket', path)
  expect(readyIn(first).url).toBe(`ws+unix:${pathToFileURL(path).pathname}:/`)
  expect(run('config', '--data', data)).toMatchObject({ status: 0, stderr: '' })
})

test('[D6] a restarted host has the same token and the same port', async () => {
  const before = await serve('--json')
  before.child.kill('SIGINT')
  expect(await before.exit).toBe(0)
  const after = await serve('--json')
  const address = (line: string) => ({ ...readyIn(line), pid: 0 })
  expect(address(after.first)).toEqual(address(before.first))
})

test('[D6] a taken port is an error if it was asked for, otherwise another port is used', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const port = portOf(other)
  const asked = run('serve', '--data', data, '--port', String(port))
  expect(asked).toMatchObject({ status: 1, stdout: '' })
  expect(asked.stderr).toContain(
    `atrium: Port ${port} is taken by another program; choose another with --port`,
  )
  writeFileSync(join(data, 'port'), `${port}\n`)
  const { first, out } = await serve()
  expect(first).toMatch(/^Atrium listens on ws:\/\/127\.0\.0\.1:\d+\/ \(the token: \/.*\/token\)$/)
  expect(out()).toContain(`Port ${port} is taken; this is `)
  other.close()
})

test('[D8] a second signal exits at once', async () => {
  const { child, first, exit } = await serve('--json', '--port', '0')
  const { url, token } = readyIn(first)
  // A client that never answers a close frame.
  const { port, host } = new URL(url)
  const silent = dial(Number(port), '127.0.0.1')
  const head = ['GET / HTTP/1.1', `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket']
  const more = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', '']
  silent.on('error', () => {})
  silent.write([...head, `Authorization: Bearer ${token}`, ...more].join('\r\n'))
  await once(silent, 'data')
  // The host waits 2 s for the close frame. It gets both signals at the same moment, and cannot stop between them.
  for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) child.kill(signal)
  // The system chooses which signal is the second one.
  expect([130, 143]).toContain(await exit)
  silent.destroy()
})

test('[S-01] the host does not listen on the network without TLS and a token', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
    const { status, stderr } = run('serve', '--data', data, '--port', '0', '--host', host)
    expect({ status, stderr: stderr.split('\n').at(-2) }).toEqual({
      status: 1,
      stderr: `atrium: ${host} is open to the network and needs TLS; give --tls-cert and --tls-key, or leave out --host.`,
    })
  }
  const open = run('serve', '--data', data, '--host', '0.0.0.0', '--without-connection-token')
  expect(open.stderr).toContain('needs a token')
})

test('S-05: the token is in no log, in no file of the host, and not in the list of processes', async () => {
  const canary = 'canary-canary-canary-canary'
  const { child, first, err } = await serve(
    '--json',
    '--port',
    '0',
    '--log-level',
    'trace',
    '--connection-token',
    canary,
  )
  const { url } = readyIn(first)
  for (const query of [`?tkn=${canary}x`, `?tkn=${canary}&tkn=${canary}`]) {
    const refused = new WebSocket(`${url}${query}`)
    expect(String((await once(refused, 'error'))[0])).toContain('403')
  }
  const client = new WebSocket(`${url}?tkn=${canary}`)
  await once(client, 'open')
  // The log comes through a pipe of its own, and may be later than the answers.
  await until(child.stderr, () => err().includes('refused'))
  expect(err()).toContain('Everybody on this machine can read --connection-token')
  expect(err()).not.toContain(canary)
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  expect(files.length).toBeGreaterThan(1)
  for (const { parentPath, name } of files)
    expect(readFileSync(join(parentPath, name), 'latin1')).not.toContain(canary)
  if (!existsSync('/proc/self/cmdline')) return console.log('skipped: no /proc')
  expect(readFileSync(`/proc/${child.pid}/cmdline`, 'latin1')).not.toContain(canary)
})

test('[D9] a usage error exits with 2 and points at the help, any other error with 1 and without a stack', () => {
  expect(run('serve', '--port', 'x')).toEqual({
    status: 2,
    stdout: '',
    stderr: 'atrium: --port must be a port from 0 to 65535.\n',
  })
  expect(run('serve', '--nonsense')).toMatchObject({
    status: 2,
    stderr: "atrium: unknown option '--nonsense'\n(Its arguments and options: atrium serve --help)\n",
  })
  expect(run('nonsense').status).toBe(2)
  expect(run('--version')).toMatchObject({ status: 0, stderr: '' })
  const missing = run('serve', '--data', data, '--connection-token-file', join(home, 'none'))
  expect(missing).toMatchObject({
    status: 1,
    stderr: `atrium: There is no ${join(home, 'none')}; name a file that is there.\n`,
  })
})

test('[T2] token show and rotate', () => {
  const shown = run('token', 'show', '--data', data)
  expect(shown.stdout).toMatch(/^[A-Za-z0-9_-]{43}\n$/)
  const rotated = run('token', 'rotate', '--data', data)
  expect(rotated.stdout).not.toBe(shown.stdout)
  expect(run('token', 'show', '--data', data).stdout).toBe(rotated.stdout)
})

test.each(['SIGTERM', 'SIGKILL'] as const)(
  '[L2] I1: %s under load loses no acknowledged action',
  async (signal) => {
    const first = await serve('--json', '--port', '0')
    const session = 'ahp-session:/load'
    const client = await RawClient.open(first.first)
    await client.ask('initialize', { protocolVersions: ['1.0.0'], clientId: 'load' })
    await client.ask('createSession', { channel: session })
    // The casts name the fields of the results that this test reads.
    const { snapshot } = (await client.ask('subscribe', { channel: session })) as {
      snapshot: { fromSeq: number }
    }
    for (let clientSeq = 1; clientSeq <= 3000; clientSeq++)
      client.send('dispatchAction', {
        channel: session,
        clientSeq,
        action: { type: 'session/titleChanged', title: `${clientSeq}` },
      })
    // At this moment some actions are acknowledged, and others are still in transit.
    await client.until(() => client.echoes.length > 500)
    first.child.kill(signal)
    await client.ended
    await first.exit
    const second = await serve('--json', '--port', '0')
    const back = await RawClient.open(second.first)
    const params = { clientId: 'load', lastSeenServerSeq: snapshot.fromSeq, subscriptions: [session] }
    const { actions } = (await back.ask('reconnect', params)) as { actions: readonly { serverSeq: number }[] }
    const kept = new Set(actions.map(({ serverSeq }) => serverSeq))
    expect(client.echoes.length).toBeGreaterThan(500)
    expect(client.echoes.filter((seq) => !kept.has(seq))).toEqual([])
  },
)

interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** The first line of stdout. */
  readonly first: string
  readonly exit: Promise<number | null>
  readonly out: () => string
  readonly err: () => string
}

async function serve(...args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [bin, 'serve', '--data', data, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(),
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()))
  const exit = once(child, 'exit').then(() => child.exitCode)
  const ended = exit.then((code) => {
    if (!output.out.includes('\n')) throw new Error(`exited with ${code}: ${output.err}`)
  })
  await Promise.race([until(child.stdout, () => output.out.includes('\n')), ended])
  const [first = ''] = output.out.split('\n')
  const started = { child, first, exit, out: () => output.out, err: () => output.err }
  running.push(started)
  return started
}

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: 'utf8',
    env: environment(),
  })
  return { status, stdout, stderr }
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: join(home, 'config') }
}

/** Resolves when the condition holds; checks it after each chunk of the stream. */
function until(stream: Readable, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return
      stream.off('data', check)
      resolve()
    }
    stream.on('data', check)
    check()
  })
}
