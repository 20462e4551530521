import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { atrium, documents } from '../../../test/command.ts'
import { clockAhead } from '../../../test/clock-ahead.ts'
import { HostProcess } from '../../../test/host-process.ts'

const hourMs = 3_600_000

test('[Z63.2] [Z63.3] [H42.3] a host is killed, instants fall due, and it starts again: the log and doctor say what was missed and why', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-cron-'))
  const killed = await HostProcess.start(home)
  onTestFinished(() => killed.kill())
  const inAnHour = `daily ${new Date(Date.now() + hourMs).toISOString().slice(11, 16)}`
  const add = ['add', inAnHour, 'say hello', '--zone', 'UTC', '--agent', 'guide', '--in', home, '--skip-late']
  const command = (...words: readonly string[]) => atrium(home, ['cron', ...words])
  expect(await command(...add, '--title', 'Greeting')).toMatchObject({ status: 0 })
  await killed.kill()
  const host = await HostProcess.start(home, undefined, undefined, [], clockAhead(2 * hourMs))
  onTestFinished(() => host.kill())
  const missed = /missed +(Greeting +)?the host was not running/
  expect((await command('log', 'greet')).stdout).toMatch(missed)
  expect((await command('log')).stdout).toMatch(missed)
  expect((await atrium(home, ['doctor'])).stdout).toMatch(/Greeting has missed 1 run since it last ran/)
})

test('[Z63] [Z63.1] [Z63.2] an automation is added, listed, run, paused and removed, and its log shows its runs', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-cron-'))
  const host = await HostProcess.start(home)
  onTestFinished(() => host.kill())
  const command = (...words: readonly string[]) => atrium(home, ['cron', ...words])
  expect((await command()).stderr).toContain('There are no automations.')
  const added = await command(
    'add',
    'weekdays 9:30',
    'say hello',
    '--in',
    home,
    '--agent',
    'guide',
    '--zone',
    'UTC',
  )
  expect(added).toMatchObject({ status: 0, stderr: expect.stringContaining('at 30 9 * * 1-5 in UTC. Next:') })
  expect(added.stderr).toContain('It runs only while the host runs.')
  expect((await command('ls')).stdout).toContain('say hello')
  expect(await command('run', 'hello')).toMatchObject({ status: 0 })
  const ended = async () => documents((await command('log', 'hello', '--json')).stdout)[0]?.['lifecycle']
  await expect.poll(ended, { timeout: 200_000 }).toMatchObject({ status: 'completed' })
  expect((await command('log', 'hello')).stdout).toMatch(/completed +by hand/)
  expect(await command('pause', 'hello')).toMatchObject({ status: 0 })
  expect((await command('ls')).stdout).toContain('paused')
  expect(await command('rm', 'hello')).toMatchObject({ status: 0 })
  expect(await command('log', 'hello')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no automation'),
  })
  expect(await command('add', 'noon', 'x')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('is no time'),
  })
  expect(await command('add', '0 0 30 2 *', 'x')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('never falls due'),
  })
  expect(await command('sing')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('use ls, add, log'),
  })
})
