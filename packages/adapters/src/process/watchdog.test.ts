import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newFolder } from '../../test/store-folder.ts'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import { homeWith, line, until } from '../../test/shells.ts'

const kinds = [
  (s: string) => `exec sleep ${s}`,
  (s: string) => `trap '' HUP; sleep ${s}`,
  (s: string) => `nohup sleep ${s} & wait`,
  (s: string) => `setsid sleep ${s} & sleep ${s}`,
  (s: string) => `setsid -f sleep ${s}; trap '' HUP TERM INT; while :; do sleep ${s}; done`,
  (s: string) => `set -m; env -i sleep ${s} & sleep ${s} & wait`,
  (s: string) => `trap '' HUP; kill -STOP $$; sleep ${s}`,
]

test.each(['SIGKILL', 'SIGTERM'] as const)(
  '[F-40d] [F-40d.1] [F-40d.2] 20 terminals of a host that ends by %s: none of their processes is left',
  async (signal) => {
    const seconds = uniqueSeconds()
    const temporary = newFolder()
    const commands = Array.from({ length: 18 }, (_, i) => kinds[i % kinds.length]?.(seconds))
    const { home, env } = homeWith({
      '.bashrc': `PS1="$ "; trap '' HUP; sleep ${seconds} & nohup sleep ${seconds} &`,
    })
    const host = spawn(process.execPath, ['--input-type=module', '-e', hosting], {
      env: { ...env, TMPDIR: temporary, COMMANDS: JSON.stringify(commands), MODULE: moduleUrl },
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: home,
    })
    const lines = createInterface(host.stdout)
    await once(lines, 'line')
    await until(() => processesWith(seconds).length >= 34)
    expect(processesWith(temporary).length).toBeGreaterThan(0)
    host.kill(signal)
    await once(host, 'exit')
    // The watchdog gives up after 4 s of pauses. So a process that it could not end in time is still there.
    await until(() => processesWith(seconds).length === 0)
    // The folder's path is an argument of the watchdog process, so the search finds this process.
    await until(() => processesWith(temporary).length === 0 && readdirSync(temporary).length === 0)
  },
)

test.each(['SIGKILL', 'SIGTERM'] as const)(
  '[F-40d.1] a git that waits for ever ends when its host ends by %s',
  async (signal) => {
    const seconds = uniqueSeconds()
    const folder = newFolder()
    writeFileSync(join(folder, 'git'), `#!/bin/sh\ntrap '' HUP TERM\nsleep ${seconds} & sleep ${seconds}\n`, {
      mode: 0o755,
    })
    const host = spawn(process.execPath, ['--input-type=module', '-e', asking], {
      env: {
        PATH: process.env['PATH'],
        TMPDIR: folder,
        GIT: join(folder, 'git'),
        DIST: distUrl,
        // The watchdog of another test ends what has its mark, also for a while after its own processes have ended.
        MARK: `ended by ${signal}`,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    await until(() => processesWith(seconds).length === 2)
    host.kill(signal)
    await once(host, 'exit')
    await until(() => processesWith(seconds).length === 0)
  },
)

test('[F-40d] a host with terminals has one watchdog process, and a new one if that is killed', async () => {
  const one = await line('sleep 100')
  const dogs = () => processesWith('watchdog.sh').filter((pid) => parentOf(pid) === process.pid)
  await until(() => dogs().length > 0)
  const [dog] = dogs()
  if (!dog) throw new Error('there is no watchdog')
  process.kill(dog, 'SIGKILL')
  await until(() => dogs().some((pid) => pid !== dog))
  await one.shell.end()
})

test('[F-40d] a session that was removed is not ended', async () => {
  const seconds = uniqueSeconds()
  const sleeping = () => spawn('sleep', [seconds], { detached: true, stdio: 'ignore' })
  const [kept, first, forgotten, last] = [sleeping(), sleeping(), sleeping(), sleeping()]
  const dog = spawn('/bin/sh', ['--', program, newFolder(), 'NO=mark'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const words = [first, forgotten, last].map(({ pid }) => `+${pid}`)
  dog.stdin.end([...words, `-${forgotten.pid}`, '-1', ''].join('\n'))
  await Promise.all([once(dog, 'exit'), once(first, 'exit'), once(last, 'exit')])
  expect(new Set(processesWith(seconds))).toEqual(new Set([kept.pid, forgotten.pid]))
  for (const each of [kept, forgotten]) each.kill('SIGKILL')
})

const program = fileURLToPath(new URL('./watchdog.sh', import.meta.url))
const distUrl = new URL('../../dist/', import.meta.url).href

/** A script that runs git as a host does. */
const asking = `
  const load = (name) => import(process.env.DIST + name)
  const { Watchdog } = await load('process/watchdog.js')
  const { GitRunner } = await load('git/run.js')
  const limits = { vcsMs: 1e6, vcsBytes: 1, vcsRuns: 1 }
  const mark = process.env.MARK
  const processes = { watchdog: new Watchdog(mark), mark }
  await new GitRunner(process.env.GIT, process.env.PATH, limits, processes).run([], { cwd: '/', env: {} })
`
const moduleUrl = new URL('../../dist/terminals/terminals.js', import.meta.url).href

/** A script that runs a host with terminals as a child process. The script prints a line when all terminals run. */
const hosting = `
  const { ptyTerminals } = await import(process.env.MODULE)
  const terminals = ptyTerminals({ shell: '/bin/bash' })
  for (const command of [...JSON.parse(process.env.COMMANDS), undefined, undefined])
    await terminals.start({ cwd: '/', cols: 80, rows: 24, command }, () => {})
  console.log('up')
  setInterval(() => {}, 1e6)
`

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}
