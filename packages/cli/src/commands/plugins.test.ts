import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Client } from '@atrium/client/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atrium, documents } from '../../test/command.ts'
import { clientOf, say, sessionOf } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'

let home = ''
let work = ''
let host: HostProcess
let client: Client
beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-plugins-')))
  work = join(home, 'work')
  const kit = join(work, '.agents/plugins/kit')
  put(join(kit, '.plugin/plugin.json'), '{"name":"kit"}')
  put(join(kit, 'skills/tidy/SKILL.md'), '---\nname: tidy\ndescription: Cleans up\n---\nTidy.')
  put(join(kit, 'hooks/hooks.json'), hook('echo stopped >> stopped'))
  host = await HostProcess.start(home)
  client = clientOf(host)
})
afterAll(() => {
  client.close()
  return host.kill()
})

const hook = (command: string) =>
  JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
const stops = () => (existsSync(join(work, 'stopped')) ? readFileSync(join(work, 'stopped'), 'utf8') : '')

describe.sequential('[Z33] plugins', () => {
  test('[Z28.3] doctor says which plugins of the host do not work, and why', async () => {
    const bad = join(home, 'bad')
    put(join(bad, '.plugin/plugin.json'), '{"name":"bad"}')
    put(join(bad, 'hooks/hooks.json'), '{')
    await atrium(home, ['plugins', 'add', bad])
    await client
      .subscribe('root', 'ahp-root://')
      .until(({ agents }) => JSON.stringify(agents).includes('"bad"'))
    const { status, stdout } = await atrium(home, ['doctor', '--json'])
    expect(status).toBe(0)
    expect(documents(stdout).filter(({ about }) => about === 'plugin')).toMatchObject([
      { level: 'warn', detail: expect.stringMatching(/^bad does not work: hooks\/hooks\.json/) },
    ])
    await atrium(home, ['plugins', 'remove', bad])
  })

  test('a session lists its customizations with their load states', async () => {
    const chat = await sessionOf(client, 'mine', work)
    await turn(chat)
    const { status, stdout } = await atrium(home, ['plugins', 'ls', 'mine', '--json'])
    expect(status).toBe(0)
    expect(documents(stdout)).toMatchObject([
      {
        name: 'kit',
        type: 'plugin',
        on: true,
        state: 'degraded: To allow these programs, enable this customization: Stop: echo stopped >> stopped',
        programs: ['Stop: echo stopped >> stopped'],
      },
      { name: 'tidy', type: 'skill', on: true },
      { name: 'hooks', type: 'hook' },
    ])
    expect(stops()).toBe('')
  })

  test('[Z33.1] a program runs after it was trusted, and not after its plugin was switched off or has changed', async () => {
    const trusted = await atrium(home, ['plugins', 'trust', 'mine', 'kit', '--folder'])
    expect(trusted).toMatchObject({ status: 0 })
    const chat = await sessionOf(client, 'other', work)
    await turn(chat)
    expect(stops()).toBe('stopped\n')
    await atrium(home, ['plugins', 'off', 'other', 'kit'])
    await turn(chat)
    expect(stops()).toBe('stopped\n')
    await atrium(home, ['plugins', 'on', 'other', 'kit'])
    await turn(chat)
    expect(stops()).toBe('stopped\nstopped\n')
    put(join(work, '.agents/plugins/kit/hooks/hooks.json'), hook('echo evil >> stopped'))
    await turn(chat)
    expect(stops()).toBe('stopped\nstopped\n')
    const { stdout } = await atrium(home, ['plugins', 'ls', 'other'])
    expect(stdout).toMatch(/have changed since they were allowed.*- Stop: echo stopped.*\+ Stop: echo evil/)
  })

  test('the plugins of the host are added, listed and removed', async () => {
    const folder = join(home, 'own')
    expect(await atrium(home, ['plugins', 'add', folder])).toMatchObject({ status: 1 })
    put(join(folder, '.plugin/plugin.json'), '{"name":"own"}')
    expect(await atrium(home, ['plugins', 'add', folder])).toMatchObject({ status: 0 })
    expect((await atrium(home, ['plugins'])).stdout).toBe(`${folder}\n`)
    expect(await atrium(home, ['plugins', 'remove', folder])).toMatchObject({ status: 0 })
    expect((await atrium(home, ['plugins'])).stdout).toBe('')
  })

  test.each([
    [['plugins', 'fly'], "There is no 'plugins fly'; there is: ls, add, remove, trust, on, off."],
    [['plugins', 'trust', 'mine'], 'Name the session, and then the plugin or one of its parts.'],
    [['plugins', 'off', 'mine', 'none'], "This session has no 'none'; see: atrium plugins ls mine."],
    [['plugins', 'add'], 'Which folder? Name the folder of the plugin.'],
  ])('%j is wrong usage', async (args, sentence) => {
    expect(await atrium(home, args)).toMatchObject({ status: 2, stderr: `atrium: ${sentence}\n` })
  })
})

async function turn(chat: Awaited<ReturnType<typeof sessionOf>>): Promise<void> {
  const before = (await chat.ready()).turns.length
  await say(chat, 'say hello')
  await chat.until(({ turns, activeTurn }) => turns.length > before && !activeTurn)
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
