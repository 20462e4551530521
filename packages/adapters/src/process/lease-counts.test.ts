import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newFolder } from '../../test/store-folder.ts'
import { linesIn, processesWith, stateOf, uniqueSeconds } from '../../test/processes.ts'
import { until } from '../../test/shells.ts'
import { Watchdog } from './watchdog.ts'

/** A watchdog that counts for a lease, and processes that it watches. */
function watched(ms: number) {
  const watchdog = new Watchdog(`none-${uniqueSeconds()}`)
  const effects = watchdog.effectTimer(ms)
  const start = () => {
    const child = spawn('sleep', [uniqueSeconds()], { detached: true, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    if (child.pid !== undefined) watchdog.watch(child.pid)
    return { child, exit: once(child, 'exit') }
  }
  onTestFinished(() => effects.stop())
  return { watchdog, effects, start }
}

test('[L43] [L43.2] watched processes end when the count of the last confirmed mark ends', async () => {
  const { effects, start } = watched(500)
  effects.confirm(await effects.mark())
  const { exit } = start()
  // A later mark that is not confirmed does not prolong the count.
  await effects.mark()
  expect(await exit).toEqual([null, 'SIGKILL'])
})

test('[L43] while marks are confirmed, nothing is ended', async () => {
  const ms = 3000
  const { effects, start } = watched(ms)
  const began = performance.now()
  effects.confirm(await effects.mark())
  const { child, exit } = start()
  while (performance.now() < began + 2 * ms) {
    effects.confirm(await effects.mark())
    await sleep(ms / 10)
  }
  expect(child.signalCode).toBeNull()
  expect(await exit).toEqual([null, 'SIGKILL'])
})

test('[L43] after a deposition, a process that starts late ends, too, until a mark is confirmed again', async () => {
  const { effects, start } = watched(600_000)
  effects.confirm(await effects.mark())
  const { exit } = start()
  effects.expire()
  expect(await exit).toEqual([null, 'SIGKILL'])
  expect(await start().exit).toEqual([null, 'SIGKILL'])
  effects.confirm(await effects.mark())
  // The watchdog answers marks in order: after the answer, the confirmation has ended the rings.
  await effects.mark()
  const { child } = start()
  await effects.mark()
  expect(child.signalCode).toBeNull()
})

test('[L43.3] without a confirmed mark, or after its count, no process may be started', async () => {
  const { effects, watchdog } = watched(600_000)
  expect(() => watchdog.wake()).toThrow('has not renewed its lease')
  effects.confirm(await effects.mark())
  watchdog.wake()
  const short = watched(200)
  short.effects.confirm(await short.effects.mark())
  await until(() => refusal(short.watchdog).includes('has not renewed its lease'))
})

/** Why no process may be started; empty if one may. */
function refusal(watchdog: Watchdog): string {
  try {
    watchdog.wake()
    return ''
  } catch (error) {
    return String(error)
  }
}

test('[L43.3] a lease that was given back ends nothing', async () => {
  const { effects, start } = watched(300)
  effects.confirm(await effects.mark())
  effects.stop()
  const { child } = start()
  for (let answers = 0; answers < 5; answers++) {
    await effects.mark()
    effects.stop()
    await sleep(100)
  }
  expect(child.signalCode).toBeNull()
})

test('[L43.3] a watchdog that is killed is replaced, and the count goes on', async () => {
  const { effects, start, watchdog } = watched(2000)
  effects.confirm(await effects.mark())
  const { exit } = start()
  for (const dog of processesWith(watchdog.folder)) process.kill(dog, 'SIGKILL')
  expect(await exit).toEqual([null, 'SIGKILL'])
})

test('[L43] a host is stopped for longer than its lease: its agent, which writes a file every 100 ms, stops before the lease does', async () => {
  const folder = newFolder()
  const file = join(folder, 'written')
  const lease = join(folder, 'lease')
  const taken = join(folder, 'taken')
  // The count is much shorter than the lease, because the machine may be busy.
  const leaseMs = 8000
  const host = spawn(process.execPath, ['--input-type=module', '-e', hosting], {
    env: {
      ...process.env,
      TMPDIR: folder,
      MODULE: moduleUrl,
      FILE: file,
      LEASE: lease,
      TAKEN: taken,
      LEASE_MS: `${leaseMs}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void host.kill('SIGKILL'))
  const lines = createInterface(host.stdout)
  expect(await Promise.race([once(lines, 'line'), once(host, 'exit')])).toEqual(['up'])
  await until(() => linesIn(file) > 3)
  host.kill('SIGSTOP')
  await until(() => stateOf(host.pid) === 'T')
  const ends = Number(readFileSync(lease, 'utf8')) + leaseMs
  await until(() => processesWith(file).length === 0)
  expect(statSync(file).mtimeMs).toBeLessThan(ends)
  await until(() => Date.now() > ends)
  const written = linesIn(file)
  writeFileSync(taken, '')
  host.kill('SIGCONT')
  expect(await once(lines, 'line')).toEqual(['deposed'])
  expect(linesIn(file)).toBe(written)
})

const moduleUrl = new URL('../../dist/process/watchdog.js', import.meta.url).href

/** A script that plays an owner. The time of each renewal is in a file, and another file says that the lease was taken. */
const hosting = `
  import { spawn } from 'node:child_process'
  import { existsSync, renameSync, writeFileSync } from 'node:fs'
  const { MODULE, FILE, LEASE, TAKEN, LEASE_MS } = process.env
  // The watchdog does not keep a process alive.
  setInterval(() => {}, 1e6)
  const { Watchdog } = await import(MODULE)
  const watchdog = new Watchdog('owner')
  const effects = watchdog.effectTimer(LEASE_MS / 2)
  const renew = async () => {
    const mark = await effects.mark()
    if (existsSync(TAKEN)) return console.log('deposed')
    // The new time is written to another file and renamed. This process may be stopped at any moment, and the
    // test then must not read an empty file.
    writeFileSync(LEASE + '.new', String(Date.now()))
    renameSync(LEASE + '.new', LEASE)
    effects.confirm(mark)
    setTimeout(renew, LEASE_MS / 16)
  }
  await renew()
  const writing = 'while :; do echo x >> "$0"; sleep 0.1; done'
  const agent = spawn('/bin/sh', ['-c', writing, FILE], { detached: true, stdio: 'ignore' })
  watchdog.watch(agent.pid)
  console.log('up')
`
