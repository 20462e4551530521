import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, say, sessionOf } from '../../../test/client.ts'
import { atrium, documents } from '../../../test/command.ts'
import { HostProcess } from '../../../test/host-process.ts'
import { onTerminal } from '../../../test/terminal.ts'

let home = ''
let work = ''
let host: HostProcess
let client: Client
beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-sessions-')))
  work = join(home, 'work')
  mkdirSync(work)
  host = await HostProcess.start(home)
  client = clientOf(host)
})
afterAll(async () => {
  client.close()
  await host.kill()
})

const begun = async (name: string) => say(await sessionOf(client, name, work), `say ${name}`)
const ids = async (...flags: readonly string[]) =>
  (await atrium(home, ['ls', '--quiet', ...flags])).stdout.split('\n').filter(Boolean)

describe.sequential('[Z39] the commands for sessions', () => {
  test('ls has a header, the folder of a session below the home, and its forked chats', async () => {
    await begun('forked')
    await atrium(home, ['fork', 'forked'])
    const { stdout } = await atrium(home, ['ls'])
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s{2,}/))
    expect(rows).toMatchObject([
      ['SESSION', 'STATE', 'AGE', 'AGENT', 'FOLDER', 'TITLE'],
      ['forked', 'idle', 'now', 'guide', '~/work', 'about forked'],
      [expect.stringMatching(/^└ [\da-f]{8}$/), 'idle', expect.anything()],
      [''],
    ])
  })

  test('ls --quiet prints ids, which other commands take', async () => {
    await begun('second')
    expect(await ids()).toEqual(['second', 'forked'])
    const { stdout } = await atrium(home, ['ls', '--quiet', '--json'])
    expect(documents(stdout)).toMatchObject([{ resource: 'ahp-session:/second' }, {}])
  })

  test('rename gives a title', async () => {
    expect(await atrium(home, ['rename', 'second', 'another', 'title'])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Renamed.\n',
    })
    const { stdout } = await atrium(home, ['ls', '--json'])
    expect(documents(stdout)[0]).toMatchObject({ title: 'another title' })
    expect(await atrium(home, ['rename', 'second', ' '])).toMatchObject({ status: 2 })
    expect(await atrium(home, ['rename', 'nobody', 'x'])).toMatchObject({ status: 4 })
  })

  test('a command for sessions refuses a chat', async () => {
    const { stdout } = await atrium(home, ['fork', 'second'])
    const chat = stdout.trim().slice(stdout.lastIndexOf('/') + 1)
    for (const args of [
      ['rename', chat, 'x'],
      ['archive', chat],
      ['rm', '--yes', chat],
    ])
      expect(await atrium(home, args)).toMatchObject({
        status: 2,
        stderr: `atrium: '${chat}' is a chat; name its session.\n`,
      })
    expect(documents((await atrium(home, ['ls', '--json'])).stdout)[0]).toMatchObject({
      title: 'another title',
    })
  })

  test('[Z39.1] archive hides sessions, and --undo shows them again; a wrong name changes nothing', async () => {
    expect(await atrium(home, ['archive', 'forked', 'nobody'])).toMatchObject({ status: 4 })
    expect(await ids()).toEqual(['second', 'forked'])
    const { stderr } = await atrium(home, ['archive', 'forked'])
    expect(stderr).toBe('forked is archived; see it with: atrium ls --all\n')
    expect(await ids()).toEqual(['second'])
    expect(await ids('--all')).toContain('forked')
    await atrium(home, ['archive', '--undo', 'forked'])
    expect(await ids()).toContain('forked')
  })

  test('[Z2.2] [Z39.2] rm deletes nothing without an answer', async () => {
    const refused = await atrium(home, ['rm', 'forked'], { input: 'y\n' })
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('add: --yes') })
    for (const keys of ['n\r', '\r', '\u0004']) {
      const terminal = await onTerminal(home, 'rm forked')
      await terminal.until('Delete forked "about forked" with all its turns? [y/N]')
      terminal.shell.input(keys)
      await terminal.until('forked is kept.')
      await terminal.exited
    }
    expect(await ids()).toContain('forked')
  })

  test('[Z39.2] rm asks for each session; with --yes it deletes all that are named', async () => {
    const terminal = await onTerminal(home, 'rm forked')
    await terminal.until('[y/N]')
    terminal.shell.input('y\r')
    await terminal.until('forked is deleted.')
    expect(await terminal.exited).toBe(0)
    await begun('third')
    const { stdout } = await atrium(home, ['rm', '--yes', '--json', 'second', 'third', 'last'])
    expect(documents(stdout)).toEqual([
      { session: 'ahp-session:/second', removed: true },
      { session: 'ahp-session:/third', removed: true },
    ])
    expect(await ids('--all')).toEqual([])
  })
})
