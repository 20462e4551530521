import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withReadiness } from '@atrium/protocol/root/readiness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atrium, bin, documentIn, documents, portOf } from '../../test/command.ts'
import { clientOf, sessionOf } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'
import { onTerminal } from '../../test/terminal.ts'
import { agentFinding, numbersFinding, versionFinding } from '../doctor/host.ts'

let home = ''
let host: HostProcess
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-doctor-'))
  host = await HostProcess.start(home)
})
afterAll(() => host.kill())

const levelsIn = (stdout: string) =>
  Object.fromEntries(documents(stdout).map(({ about, level }) => [about, level]))

describe.concurrent('[Z28] doctor', () => {
  test('[Z28.4] finds nothing wrong with a running host, and prints in colour on a terminal', async () => {
    const { status, stdout, stderr } = await atrium(home, ['doctor', '--json'])
    expect([status, stderr]).toEqual([0, ''])
    expect(levelsIn(stdout)).toMatchObject({
      settings: 'ok',
      node: 'ok',
      data: 'ok',
      shell: 'ok',
      host: 'ok',
      numbers: 'ok',
      agent: 'ok',
      client: 'ok',
      clock: 'ok',
    })
    // [Z28.4] There is no config file.
    expect(stdout).toContain('no file, so the defaults hold; yours would be ')
    // S-02: what a token allows is said plainly.
    expect(stdout).toContain('whoever has the token may open and grant any folder; agents run as your user')
    const others = documents(stdout).filter(({ about }) => about === 'client')
    expect(others).toContainEqual(
      expect.objectContaining({ detail: expect.stringMatching(/^Atrium command line .*, AHP 1\.0\.0$/) }),
    )
    const terminal = await onTerminal(home, 'doctor')
    expect(await terminal.exited).toBe(0)
    expect(terminal.text()).toContain('\u001b[32mok  \u001b[39m  host')
  })

  test('[Z28.2] lists the connected clients with --clients, and what each cannot see', async () => {
    const { status, stdout } = await atrium(home, ['doctor', '--clients'])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^ok {4}client .*AHP 1\.0\.0$/m)
    expect(stdout).not.toContain('cannot see')
  })

  test('[Z28.1] shows what takes the space with --disk, while the host runs', async () => {
    const { status, stdout, stderr } = await atrium(home, ['doctor', '--disk', '--json'])
    expect([status, stderr]).toEqual([0, ''])
    const [usage] = documents(stdout)
    expect(usage).toMatchObject({
      parts: expect.arrayContaining([
        expect.objectContaining({ part: 'sealed actions', count: expect.any(Number) }),
        expect.objectContaining({ part: 'free pages' }),
        expect.objectContaining({ part: 'journal', bytes: expect.any(Number) }),
      ]),
    })
    const readable = await atrium(home, ['doctor', '--disk'])
    expect(readable.stdout).toMatch(/^journal +\d/m)
    expect(readable.stdout).not.toMatch(/ 0 B$/m)
    expect(readable.stdout).toMatch(/^together +\d/m)
    const empty = mkdtempSync(join(tmpdir(), 'atrium-doctor-'))
    const none = await atrium(empty, ['doctor', '--disk'])
    expect([none.status, none.stdout]).toEqual([1, ''])
    expect(none.stderr).toContain('There is no store in')
  })

  test('needs no host, and says how to get one', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'atrium-doctor-'))
    const { status, stdout, stderr } = await atrium(empty, ['doctor', '-q'], {
      env: { PATH: '/nowhere', SHELL: '/no' },
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('start one with: atrium serve')
    expect(stdout).toMatch(/^warn {2}git .*install git$/m)
    // `--quiet` hides the checks that are ok.
    expect(stdout).not.toMatch(/^ok/m)
  })

  test('each problem has a remedy, and a failed check exits with 1', async () => {
    const bad = mkdtempSync(join(tmpdir(), 'atrium-doctor-'))
    mkdirSync(join(bad, 'data'))
    chmodSync(join(bad, 'data'), 0o755)
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const port = portOf(taken)
    const given = { env: { ATRIUM_PORT: String(port) } }
    const { status, stdout } = await atrium(bad, ['doctor', '--json'], given)
    expect(status).toBe(1)
    expect(levelsIn(stdout)).toMatchObject({ data: 'fail', port: 'fail' })
    expect(stdout).toContain('chmod 700')
    for (const { level, mend } of documents(stdout)) expect(mend === undefined).toBe(level === 'ok')
    taken.close()
    chmodSync(join(bad, 'data'), 0o700)
    writeFileSync(join(bad, 'data', 'host.json'), 'nonsense', { mode: 0o600 })
    expect(levelsIn((await atrium(bad, ['doctor', '--json'])).stdout)).toMatchObject({
      data: 'ok',
      host: 'fail',
    })
    const wrong = await atrium(bad, ['doctor', '--json'], { env: { ATRIUM_PORT: 'none' } })
    expect([wrong.status, levelsIn(wrong.stdout)]).toEqual([1, { settings: 'fail' }])
  })

  test('checks a remote host, too', async () => {
    const path = join(home, 'data', 'host.json')
    const { url, tokenFile } = documentIn(readFileSync(path, 'utf8'))
    const there = ['--host', String(url), '--token-file', String(tokenFile)]
    expect(levelsIn((await atrium(home, ['doctor', '--json', ...there])).stdout)).toMatchObject({
      host: 'ok',
    })
    const nobody = await atrium(home, ['doctor', '--json', '--host', 'ws://127.0.0.1:1'])
    expect([nobody.status, levelsIn(nobody.stdout)]).toMatchObject([1, { host: 'fail', data: 'ok' }])
  })

  test('reports a host of another version, and a clock that was set back', () => {
    const host = {
      serverInfo: { name: 'atrium', version: '9.9.9' },
      protocolVersion: '1.0.0',
      serverSeq: 5_000_000,
    }
    expect(versionFinding({ host }, 'ws://127.0.0.1:1/?tkn=secret')).toMatchObject({ level: 'warn' })
    expect(versionFinding({ host }, 'ws://127.0.0.1:1/?tkn=secret').detail).not.toContain('secret')
    expect(numbersFinding({ host }, 5_000)).toMatchObject({ level: 'ok' })
    expect(numbersFinding({ host: { ...host, serverSeq: 905_000_000 } }, 5_000)).toMatchObject({
      level: 'warn',
      detail: 'the sequence numbers are 900 s ahead of the clock',
    })
  })
})

test.each([
  ['ready', undefined, 'ok', 'x, with 0 models', undefined],
  ['not-tried', undefined, 'warn', 'x was never started by this host', 'try it with: atrium agents --check'],
  ['broken', 'It is gone.', 'warn', 'x does not work: It is gone.', 'then: atrium agents --check'],
  [
    'needs-sign-in',
    'Log in.',
    'warn',
    'x needs a sign-in: Log in.',
    'then: atrium agents --check; a new variable needs a restart of the host',
  ],
] as const)('[Z28] an agent that is %s is reported as such', (state, problem, level, detail, mend) => {
  const agent = { provider: 'x', displayName: 'X', description: '', models: [] }
  const finding = agentFinding(withReadiness(agent, { state, ...(problem !== undefined && { problem }) }))
  expect(finding).toEqual({ level, about: 'agent', detail, ...(mend !== undefined && { mend }) })
})

describe.concurrent('[Z27] agents and config', () => {
  test('[Z27.1] agents are listed with their models and required sign-ins', async () => {
    expect(await atrium(home, ['agents'])).toEqual({
      status: 0,
      stdout: 'guide  Atrium Guide  ready  guide-plain, guide-lively\n',
      stderr: '',
    })
    const { stdout } = await atrium(home, ['agents', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ provider: 'guide', state: 'ready', loginRequired: false })
  })

  test('the settings of the host are listed, shown, and changed by their schema', async () => {
    const listed = await atrium(home, ['config'])
    expect(listed.stdout).toMatch(/^atrium\.defaultProvider +\(not set\) +Default agent$/m)
    expect(await atrium(home, ['config', 'defaultProvider', 'guide'])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'atrium.defaultProvider is set.\n',
    })
    expect((await atrium(home, ['config', 'atrium.defaultProvider'])).stdout).toBe('guide\n')
    const unset = await atrium(home, ['config', 'defaultProvider', '--unset', '--json'])
    expect(JSON.parse(unset.stdout)).toEqual({
      key: 'atrium.defaultProvider',
      value: null,
      type: 'string',
      title: 'Default agent',
    })
    for (const [args, status] of [
      [['nonsense'], 2],
      [['grants', 'nonsense'], 2],
      [['grants', '{}'], 2],
      [['grants', '[1]'], 1],
      [['grants', '[]', '--unset'], 2],
    ] as const)
      expect(await atrium(home, ['config', ...args])).toMatchObject({
        status,
        stdout: '',
        stderr: expect.stringMatching(/^atrium: .+\n$/),
      })
  })
})

test('[Z28] a host that hangs is reported', async () => {
  process.kill(host.pid, 'SIGSTOP')
  const { status, stdout } = await atrium(home, ['doctor', '-q'])
  process.kill(host.pid, 'SIGCONT')
  expect([status, stdout]).toEqual([1, expect.stringMatching(/^fail {2}host .*did not answer in 10 s/)])
})

describe('[Z29] completion', () => {
  /** A PATH that contains the command under the name `atrium`. */
  const path = () => {
    const folder = join(home, 'bin')
    if (!existsSync(folder)) {
      mkdirSync(folder)
      symlinkSync(bin, join(folder, 'atrium'))
    }
    return `${folder}:${process.env['PATH']}`
  }

  test('bash completes commands, flags and the names of sessions', async () => {
    const client = clientOf(host)
    await sessionOf(client, 'completed')
    await sessionOf(client, '$(touch x)')
    client.close()
    const { stdout: script } = await atrium(home, ['completion', 'bash'])
    const complete = (...words: readonly string[]) => {
      const line = words.map((word) => `'${word}'`).join(' ')
      const asked = `${script}\nCOMP_WORDS=(${line}) COMP_CWORD=${words.length - 1}\n_atrium\necho "\${COMPREPLY[@]}"`
      const env = { PATH: path(), HOME: home, ATRIUM_HOME: join(home, 'data') }
      return spawnSync('bash', ['-c', asked], { env, encoding: 'utf8' }).stdout.trim()
    }
    expect(complete('atrium', 'gr')).toBe('grant')
    expect(complete('atrium', '__')).toBe('')
    expect(complete('atrium', 'send', '--st')).toBe('--steer')
    expect(complete('atrium', 'serve', '--tls-c')).toBe('--tls-cert')
    expect(complete('atrium', 'token', '')).toBe('show rotate')
    expect(complete('atrium', 'completion', 'f')).toBe('fish')
    // A name that the shell would execute is not offered.
    expect(complete('atrium', 'send', '')).toBe('last complete')
  })

  test('zsh can read its script', async ({ skip }) => {
    if (spawnSync('zsh', ['--version']).error) skip('no zsh')
    const { stdout: zsh } = await atrium(home, ['completion', 'zsh'])
    expect(spawnSync('zsh', ['-n'], { input: zsh, encoding: 'utf8' }).stderr).toBe('')
  })

  test('zsh has a script, fish has one, and any other shell is 2', async () => {
    expect((await atrium(home, ['completion', 'zsh'])).stdout).toMatch(/^#compdef atrium\n/)
    const { stdout: fish } = await atrium(home, ['completion', 'fish'])
    expect(fish).toContain("complete -c atrium -f -n __fish_use_subcommand -a ls -d 'list the sessions'\n")
    expect(fish).toContain("-n '__fish_seen_subcommand_from cancel' -a '(atrium __names 2>/dev/null)'")
    expect(await atrium(home, ['completion', 'tcsh'])).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('bash, zsh, fish'),
    })
  })
})
