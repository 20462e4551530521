import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { atrium, documentIn } from '../../test/command.ts'
import { onlyGuide } from '../../test/only-guide.ts'
import { isRunning } from '../serve/discovery.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'atrium-background-'))
  mkdirSync(join(home, 'work'))
})
afterEach(async () => {
  await command('stop', '--quiet')
  rmSync(home, { recursive: true, force: true })
})

const command = (...args: readonly string[]) =>
  atrium(home, args, { env: { ...onlyGuide(), ATRIUM_PORT: '0' }, cwd: join(home, 'work') })
const hostFile = () => join(home, 'data', 'host.json')
const pid = () => documentIn(readFileSync(hostFile(), 'utf8'))['pid']

describe('[Z40] a host in the background', () => {
  test('[Z40.1] [Z40.3] run starts a host that goes on, the next run uses it, and stop ends it', async () => {
    const first = await command('run', 'say one')
    expect(first).toMatchObject({ status: 0, stdout: 'one\n' })
    expect(first.stderr).toMatch(
      /^· no host runs with .*data: starting one\n· the host goes on .*atrium stop/,
    )
    const host = pid()
    expect(await command('run', '--quiet', 'say two')).toEqual({ status: 0, stdout: 'two\n', stderr: '' })
    expect(pid()).toBe(host)
    expect(statSync(join(home, 'data', 'host.log')).mode & 0o777).toBe(0o600)
    const stopped = await command('stop', '--json')
    expect(documentIn(stopped.stdout)).toEqual({ stopped: host, interrupted: 0 })
    expect(existsSync(hostFile())).toBe(false)
    expect(await command('stop')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('No host runs with'),
    })
    expect((await command('run', '-q', 'say three')).stdout).toBe('three\n')
    expect((await command('ls', '-q')).stdout.trim().split('\n')).toHaveLength(3)
  })

  test('--no-start starts none', async () => {
    expect(await command('run', '--no-start', 'say one')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('start one with: atrium serve'),
    })
    expect(existsSync(join(home, 'data', 'atrium.db'))).toBe(false)
  })

  test('[Z40.2] two commands that start a host at the same moment use one', async () => {
    const both = await Promise.all([command('run', '-q', 'say one'), command('run', '-q', 'say two')])
    expect(both.map(({ stdout }) => stdout)).toEqual(['one\n', 'two\n'])
    expect((await command('ls', '-q')).stdout.trim().split('\n')).toHaveLength(2)
  })

  test('[Z40.1] the log of the host that has the store is host.log; the others leave none', async () => {
    const commands = ['one', 'two', 'three'].map((word) => command('run', '-q', `say ${word}`))
    expect((await Promise.all(commands)).map(({ status }) => status)).toEqual([0, 0, 0])
    const logs = () => readdirSync(join(home, 'data')).filter((name) => name.endsWith('.log'))
    expect(logs()).toEqual(['host.log'])
    if (process.platform === 'linux')
      expect(readlinkSync(`/proc/${Number(pid())}/fd/2`)).toBe(join(realpathSync(home), 'data', 'host.log'))
  })

  test('commands that fail to start a host at the same moment say why, each of them', async () => {
    const env = { ...onlyGuide(), ATRIUM_PORT: '0', ATRIUM_TLS_CERT: '/no/cert', ATRIUM_TLS_KEY: '/no/key' }
    // Each command renames the log of the last host, and finds no log if another command was faster.
    mkdirSync(join(home, 'data'), { mode: 0o700 })
    writeFileSync(join(home, 'data', 'host.log'), 'of an earlier host\n', { mode: 0o600 })
    const commands = [1, 2, 3].map(() => atrium(home, ['run', 'say one'], { env }))
    for (const { status, stderr } of await Promise.all(commands)) {
      expect(status).toBe(1)
      expect(stderr).toMatch(/atrium: The host could not be started: .*\/no\/cert.*host\.log\)\n$/)
    }
  })

  test('[Z40.1] relative paths in variables count from the folder of the command, also for the host', async () => {
    const work = realpathSync(join(home, 'work'))
    mkdirSync(join(work, 'conf', 'atrium'), { recursive: true })
    const socket = join(work, 'own.sock')
    writeFileSync(join(work, 'conf', 'atrium', 'config.json'), JSON.stringify({ socket }))
    writeFileSync(join(work, 'secret'), 'a-token-of-the-user\n', { mode: 0o600 })
    const env = { ...onlyGuide(), XDG_CONFIG_HOME: 'conf', ATRIUM_TOKEN_FILE: './secret' }
    const ran = await atrium(home, ['run', '-q', 'say one'], { env, cwd: work })
    expect(ran).toEqual({ status: 0, stdout: 'one\n', stderr: '' })
    expect(documentIn(readFileSync(hostFile(), 'utf8'))).toMatchObject({
      url: `ws+unix:${socket}:/`,
      tokenFile: join(work, 'secret'),
    })
  })

  test('[Z40.3] the address of a crashed host does not count, even if another process has its number', async () => {
    await command('run', '-q', 'say one')
    const [crashed, file] = [Number(pid()), readFileSync(hostFile(), 'utf8')]
    process.kill(crashed, 'SIGKILL')
    await vi.waitUntil(() => !isRunning(crashed), { timeout: 200_000 })
    writeFileSync(hostFile(), file.replace(`${crashed}`, `${process.pid}`), { mode: 0o600 })
    expect(await command('run', '-q', 'say two')).toEqual({ status: 0, stdout: 'two\n', stderr: '' })
    expect(pid()).not.toBe(process.pid)
  })

  test('a host that only reads is not started, because no command would find it', async () => {
    const env = { ...onlyGuide(), ATRIUM_PORT: '0', ATRIUM_READ_ONLY: '1' }
    expect(await atrium(home, ['run', 'say one'], { env })).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^atrium: No host runs with/),
    })
  })

  test('[Z40.3] stop ends with exit code 3 if the host does not answer', async () => {
    await command('run', '-q', 'say one')
    const host = Number(pid())
    process.kill(host, 'SIGSTOP')
    try {
      expect(await command('stop', '--timeout', '0.5')).toEqual({
        status: 3,
        stdout: '',
        stderr: `atrium: The host (process ${host}) has not answered in 0.5 s. It was not stopped.\n`,
      })
    } finally {
      // A stopped process would not react to the signal with which `afterEach` ends it.
      process.kill(host, 'SIGCONT')
    }
  })

  test('a process that has ended counts as ended, even before its parent has noticed', async () => {
    if (process.platform !== 'linux') return
    const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'])
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(line)
    expect(isRunning(pid)).toBe(true)
    // The shell would notice the end of its child. The program that takes its place does not.
    const program = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim()
    await vi.waitUntil(() => program() === 'sleep', { timeout: 200_000 })
    process.kill(pid, 'SIGKILL')
    await vi.waitUntil(() => !isRunning(pid), { timeout: 200_000 })
    expect(existsSync(`/proc/${pid}`)).toBe(true)
  })

  test('[Z40.1] a host that cannot start is said, with its own reason', async () => {
    await command('run', '-q', 'say one')
    await command('stop')
    writeFileSync(join(home, 'data', 'atrium.db'), 'no database '.repeat(1000))
    const { status, stdout, stderr } = await command('run', 'say two')
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/The host could not be started: .*(damaged|not a database).*host\.log\)/)
  })

  test('[Z40.3] stop says that it interrupts a turn', async () => {
    expect(await command('run', '--timeout', '600', 'say one')).toMatchObject({ status: 0 })
    const [session = ''] = (await command('ls', '-q')).stdout.trim().split('\n')
    expect(await command('send', session, 'slow 600')).toMatchObject({ status: 0 })
    const { stderr } = await command('stop')
    expect(stderr).toMatch(/^The host has stopped\. 1 turn was active; \/resume/)
  })
})
