import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Peer } from '@atrium/protocol/rpc/peer'
import { defaultChatUri } from '@atrium/protocol/uri'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { atrium, documentIn, documents, portOf } from '../../test/command.ts'
import { HostProcess } from '../../test/host-process.ts'
import { running } from '../../test/running.ts'

let home = ''
let host: HostProcess
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-ls-'))
  host = await HostProcess.start(home)
})
afterEach(() => host.kill())

/** Creates sessions with a title. */
async function createSessions(...names: readonly string[]): Promise<void> {
  const ignoring = { request: () => null, notification: () => {} }
  const peer = new Peer(await host.dial(), ignoring)
  await peer.request('initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId: 'test' })
  for (const [at, name] of names.entries()) {
    const channel = `ahp-session:/${name}`
    await peer.request('createSession', { channel, provider: 'guide' })
    const draft = { text: 'later', origin: { kind: 'user' } }
    const drafted = { type: 'chat/draftChanged', draft }
    peer.notify('dispatchAction', {
      channel: defaultChatUri(channel),
      clientSeq: 2 * at + 1,
      action: drafted,
    })
    const title = { type: 'session/titleChanged', title: `the \u001b[31mtitle\u001b[0m of ${name}` }
    peer.notify('dispatchAction', { channel, clientSeq: 2 * at + 2, action: title })
  }
  await peer.request('listSessions', { channel: 'ahp-root://' })
  peer.close()
}

describe('[Z1] which host', () => {
  test('[Z1.1] [Z1.2] the host of this data folder is found by a file that only this user can read', async () => {
    const path = join(home, 'data', 'host.json')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await atrium(home, ['ls', '--json'])).toEqual({ status: 0, stdout: '', stderr: '' })
    chmodSync(path, 0o644)
    expect(await atrium(home, ['ls'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('can be read or changed by other users'),
    })
    writeFileSync(path, 'nonsense', { mode: 0o600 })
    chmodSync(path, 0o600)
    expect((await atrium(home, ['ls'])).stderr).toContain('remove it and start the host again')
  })

  test('[Z1.1] [Z1.2] a host whose process is gone is not found; a host that stops removes its file', async () => {
    const path = join(home, 'data', 'host.json')
    await host.kill()
    expect(existsSync(path)).toBe(true)
    const { status, stderr } = await atrium(home, ['ls'])
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `atrium: No host runs with ${home}/data; start one with: atrium serve\n`,
    })
    host = await HostProcess.start(home)
    await host.stop()
    expect(existsSync(path)).toBe(false)
    host = await HostProcess.start(home, undefined, undefined, ['--read-only'])
    expect(existsSync(path)).toBe(false)
  })

  test('[Z1.3] a host at a URL needs a token from a file or from the environment', async () => {
    const found = documentIn(readFileSync(join(home, 'data', 'host.json'), 'utf8'))
    const [url, tokenFile] = [String(found['url']), String(found['tokenFile'])]
    const token = readFileSync(tokenFile, 'utf8').trim()
    const there = ['ls', '--host', url.replace('ws:', 'http:')]
    const elsewhere = mkdtempSync(join(tmpdir(), 'atrium-ls-'))
    const file = join(elsewhere, 'token')
    writeFileSync(file, `${token}\n`, { mode: 0o600 })
    expect(await atrium(elsewhere, [...there, '--token-file', file])).toMatchObject({ status: 0 })
    expect(await atrium(elsewhere, there, { env: { ATRIUM_TOKEN: token } })).toMatchObject({ status: 0 })
    expect(await atrium(elsewhere, ['ls'], { env: { ATRIUM_TOKEN: token, ATRIUM_URL: url } })).toMatchObject({
      status: 0,
    })
    const refused = await atrium(elsewhere, there, { env: { ATRIUM_TOKEN: 'wrong-wrong-wrong-wrong' } })
    expect(refused).toMatchObject({
      status: 5,
      stdout: '',
      stderr: expect.stringContaining('refuses the token'),
    })
    expect(refused.stderr).not.toContain('wrong-wrong')
  })
})

test('[Z2] [Z2.1] [Z2.4] ls prints a table without escape sequences of others, and with --json one document per line', async () => {
  await createSessions('first', 'second')
  const { stdout, stderr } = await atrium(home, ['ls'])
  expect(stderr).toBe('')
  expect(stdout.split('\n').map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ['SESSION', 'STATE', 'AGE', 'AGENT', 'FOLDER', 'TITLE'],
    ['second', 'idle', 'now', 'guide', 'the \ufffd[31mtitle\ufffd[0m of second'],
    ['first', 'idle', 'now', 'guide', 'the \ufffd[31mtitle\ufffd[0m of first'],
    [''],
  ])
  const listed = documents((await atrium(home, ['ls', '--json'])).stdout)
  expect(listed.map(({ resource }) => resource)).toEqual(['ahp-session:/second', 'ahp-session:/first'])
  expect((await atrium(home, ['ls'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[36msecond')
  expect((await atrium(home, ['ls'], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain(
    '\u001b',
  )
})

test('[Z39] sessions with the same title are told apart by the time at which they began', async () => {
  await createSessions('one', 'two', 'other')
  await Promise.all(['one', 'two'].map((name) => atrium(home, ['rename', name, 'same'])))
  const { stdout } = await atrium(home, ['ls'])
  expect(stdout.match(/ same \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)$/gm)).toHaveLength(2)
  expect(stdout).toMatch(/title\S* of other$/m)
})

test('[Z1] a host that does not accept its address is named with the remedy', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 421 Misdirected Request\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = `127.0.0.1:${portOf(server)}`
  expect(await atrium(home, ['ls', '--host', `ws://${at}`])).toEqual({
    status: 1,
    stdout: '',
    stderr: `atrium: The host at ws://${at}/ does not accept this address; start it with: atrium serve --allow-host ${at}\n`,
  })
  server.close()
})

test('[Z3] a usage error exits with 2 and suggests the right command', async () => {
  expect(await atrium(home, ['sl'])).toEqual({
    status: 2,
    stdout: '',
    stderr: `atrium: unknown command 'sl'\n(Did you mean ls?)\n(To run it as a prompt: atrium run sl)\n`,
  })
  expect((await atrium(home, ['sessions'])).stderr).toContain('(Did you mean ls?)')
  // [Z3] `fork` has letters of `foo`, but is no misspelling of it.
  expect((await atrium(home, ['foo'])).stderr).toBe(
    `atrium: unknown command 'foo'\n(All commands: atrium --help)\n(To run it as a prompt: atrium run foo)\n`,
  )
  expect(await atrium(home, ['ls', '--host', 'here'])).toMatchObject({ status: 2, stdout: '' })
  expect(await atrium(home, ['ls', '--nonsense'])).toMatchObject({ status: 2, stdout: '' })
  expect(await atrium(home, ['ls', '--host', 'ws://127.0.0.1:1'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('check the address, and that a host runs there.'),
  })
})

test('[Z30.4] a command names a host that does not answer, and waits for it', async () => {
  await createSessions('one')
  process.kill(host.pid, 'SIGSTOP')
  const ls = running(home, ['ls', '-q'])
  await ls.said(
    `atrium: The host (process ${host.pid}) does not answer yet. This command waits for it; Ctrl-C ends the wait.\n`,
  )
  process.kill(host.pid, 'SIGCONT')
  expect(await ls.ended).toMatchObject({ status: 0, stdout: expect.stringContaining('one') })
})
