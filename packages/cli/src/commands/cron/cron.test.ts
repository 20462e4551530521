import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { atrium, documents } from '../../../test/command.ts'
import { HostProcess } from '../../../test/host-process.ts'
import { cronOf } from './phrases.ts'

test.each([
  ['weekdays 9:30', '30 9 * * 1-5'],
  ['Weekends at 10', '0 10 * * 0,6'],
  ['daily 18:00', '0 18 * * *'],
  ['every day 7:05', '5 7 * * *'],
  ['mon,thu 8:00', '0 8 * * 1,4'],
  ['mondays and fridays 8:00', '0 8 * * 1,5'],
  ['every sunday 23:59', '59 23 * * 0'],
  ['hourly', '0 * * * *'],
  ['every 15 minutes', '*/15 * * * *'],
  ['every 6 hours', '0 */6 * * *'],
  ['every 60 minutes', '0 * * * *'],
  ['0 9 1 JAN *', '0 9 1 JAN *'],
  ['every 7 minutes', undefined],
  ['every 0 hours', undefined],
  ['weekdays 24:00', undefined],
  ['noon', undefined],
])('[Z63.1] "%s" means %s', (phrase, expression) => {
  expect(cronOf(phrase)).toBe(expression)
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
