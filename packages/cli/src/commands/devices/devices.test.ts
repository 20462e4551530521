import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { atrium, documentIn, documents } from '../../../test/command.ts'
import { HostProcess } from '../../../test/host-process.ts'

let home = ''
/** The home of another machine, which has no data folder of a host. */
let away = ''
let host: HostProcess
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-devices-'))
  away = mkdtempSync(join(tmpdir(), 'atrium-away-'))
  host = await HostProcess.start(home)
})
afterEach(() => host.kill())

/** Pairs the other machine, with this role. */
async function paired(role: string): Promise<void> {
  const { stdout } = await atrium(home, ['devices', 'add', 'laptop', '--role', role, '--json'])
  const code = String(documentIn(stdout)['code'])
  expect(await atrium(away, ['pair', host.url, code])).toMatchObject({ status: 0 })
}

describe('[Z42] devices', () => {
  test('[Z42.1] [Z42.2] a machine is paired by a code, is used without a token, and is refused once it is revoked', async () => {
    expect(await atrium(home, ['devices'])).toMatchObject({
      stderr: expect.stringContaining('There are no devices'),
    })
    const added = await atrium(home, ['devices', 'add', 'laptop', '--role', 'approve'])
    expect(added.stdout).toMatch(
      /On that device, run: atrium pair ws:\/\/127\.0\.0\.1:\d+ [0-9A-Z]{5}-[0-9A-Z]{5}\n/,
    )
    const code = /pair \S+ (\S+)/.exec(added.stdout)?.[1] ?? ''
    const url = /pair (\S+)/.exec(added.stdout)?.[1] ?? ''
    expect((await atrium(away, ['ls', '--host', url])).status).not.toBe(0)
    const done = await atrium(away, ['pair', url, code])
    expect(done).toMatchObject({ status: 0, stderr: expect.stringContaining('the device "laptop"') })
    expect(await atrium(away, ['ls', '--host', url])).toMatchObject({ status: 0 })
    const env = { ATRIUM_TOKEN: 'wrong-wrong-wrong-wrong' }
    expect(await atrium(away, ['ls', '--host', url], { env })).toMatchObject({ status: 5 })
    const [listed] = documents((await atrium(home, ['devices', '--json'])).stdout)
    expect(listed).toMatchObject({ name: 'laptop', role: 'approve', seenAt: expect.any(String) })
    expect(await atrium(home, ['devices', 'revoke', 'laptop'])).toMatchObject({
      status: 0,
      stderr: 'Revoked: laptop. Its connections are closed.\n',
    })
    expect(await atrium(away, ['ls', '--host', url])).toMatchObject({
      status: 5,
      stderr: expect.stringContaining('refuses the token'),
    })
  })

  test('a device can revoke itself: the closed link is the answer of the host', async () => {
    await paired('own')
    expect(await atrium(away, ['devices', 'revoke', 'laptop', '--host', host.url])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Revoked: laptop. Its connections are closed.\n',
    })
    expect(documents((await atrium(home, ['devices', '--json'])).stdout)).toEqual([])
  })

  test('[Z42.1] the credential is in a file of the user alone, and in no output', async () => {
    const { stdout } = await atrium(home, ['devices', 'add', 'laptop', '--json'])
    const { stdout: said, stderr } = await atrium(away, [
      'pair',
      host.url,
      String(documentIn(stdout)['code']),
      '--json',
    ])
    const file = String(documentIn(said)['file'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const secret = readFileSync(file, 'utf8').trim()
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(said + stderr).not.toContain(secret)
    expect(readFileSync(join(home, 'data', 'token'), 'utf8')).not.toContain(secret)
  })

  test('a device cannot do more than its role: the refusal names the role', async () => {
    await paired('prompt')
    const there = ['--host', host.url]
    const said = await atrium(away, ['run', 'say hello', ...there])
    expect([said.status, said.stdout, said.stderr]).toEqual([0, 'hello\n', expect.any(String)])
    for (const [args, status] of [
      [['run', '!id'], 1],
      [['grant', '/etc'], 1],
      [['devices'], 5],
      [['devices', 'add', 'mine', '--role', 'own'], 5],
      [['rm', 'last', '--yes'], 5],
    ] as const)
      expect(await atrium(away, [...args, ...there])).toMatchObject({
        status,
        stderr: expect.stringContaining('needs the role own'),
      })
  })

  test.each([
    [['devices', 'lend'], 2, 'use ls, add NAME or revoke NAME'],
    [['devices', 'add'], 2, 'needs the name of a device'],
    [['devices', 'add', 'x', '--role', 'king'], 2, 'must be one of watch, prompt, approve, own'],
    [['devices', 'add', 'a\u001b[31m'], 1, 'the name of a device has 1 to 64'],
    [['devices', 'revoke', 'x'], 2, "There is no device 'x'; there are: none."],
    [['pair', 'nonsense', 'x'], 2, 'must be a URL'],
    [['pair', 'ws://127.0.0.1:1', 'x'], 1, 'No host answers at http://127.0.0.1:1'],
  ])('%j is an error: exit code %d', async (args, status, text) => {
    const ended = await atrium(home, args)
    expect(ended).toMatchObject({ status, stderr: expect.stringContaining(text) })
  })

  test('[Z42.3] add names no address that the other device cannot use', async () => {
    const local = await atrium(home, ['devices', 'add', 'laptop'])
    expect(local.stdout).toContain(
      '\nOnly this machine reaches 127.0.0.1. docs/remote.md shows how others do.\n',
    )
    await host.stop()
    const socket = join(home, 'host.sock')
    host = await HostProcess.start(home, undefined, undefined, ['--socket', socket])
    const { status, stdout, stderr } = await atrium(home, ['devices', 'add', 'phone'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).not.toContain(socket)
    expect(stdout).toMatch(
      /\nOn that device, run: atrium pair URL [0-9A-Z]{5}-[0-9A-Z]{5}\nURL is the address at which that device/,
    )
  })

  test('a wrong code pairs nothing', async () => {
    expect(await atrium(away, ['pair', host.url, 'AAAAA-AAAAA'])).toMatchObject({
      status: 5,
      stderr: expect.stringContaining('does not accept this code'),
    })
    expect((await atrium(away, ['ls', '--host', host.url])).status).not.toBe(0)
  })
})
