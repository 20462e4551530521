import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { atrium, documentIn } from '../../test/command.ts'
import { onlyGuide } from '../../test/only-guide.ts'

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
  test('run starts a host that goes on, the next run uses it, and stop ends it', async () => {
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

  test('two commands that start a host at the same moment use one', async () => {
    const both = await Promise.all([command('run', '-q', 'say one'), command('run', '-q', 'say two')])
    expect(both.map(({ stdout }) => stdout)).toEqual(['one\n', 'two\n'])
    expect((await command('ls', '-q')).stdout.trim().split('\n')).toHaveLength(2)
  })

  test('a host that cannot start is said, with its own reason', async () => {
    await command('run', '-q', 'say one')
    await command('stop')
    writeFileSync(join(home, 'data', 'atrium.db'), 'no database '.repeat(1000))
    const { status, stdout, stderr } = await command('run', 'say two')
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/The host could not be started: .*(damaged|not a database).*host\.log\)/)
  })

  test('stop says that it interrupts a turn', async () => {
    expect(await command('run', '--timeout', '600', 'say one')).toMatchObject({ status: 0 })
    const [session = ''] = (await command('ls', '-q')).stdout.trim().split('\n')
    expect(await command('send', session, 'slow 600')).toMatchObject({ status: 0 })
    const { stderr } = await command('stop')
    expect(stderr).toMatch(/^The host has stopped\. 1 turn was active; \/resume/)
  })
})
