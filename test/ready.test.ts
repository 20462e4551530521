import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'

const ready = fileURLToPath(new URL('../scripts/ready.mjs', import.meta.url))
const progress = new URL('../scripts/progress.mjs', import.meta.url).href
type Count = () => { readonly done: number; readonly of: number; readonly what: string }
/** The exports of `scripts/progress.mjs`, which has no types. */
interface ProgressModule {
  readonly Progress: new (stream: object, title: string, count: Count) => { end(done: boolean): void }
  readonly projectsIn: () => { readonly count: Count; readonly line: (text: string) => boolean }
  readonly installedPackages: (root: string) => Count
}
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [ready, ...args], { encoding: 'utf8' })

test('[A3] in a ready checkout, the output and the exit code are those of the command', () => {
  const { status, stdout, stderr } = run('--', 'node', '-e', 'console.log("out"); process.exit(7)')
  expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: 'out\n', stderr: '' })
})

test('[A3] a signal is forwarded to the command', async () => {
  const program =
    'process.on("SIGTERM", () => process.exit(9)); setInterval(() => {}, 1e6); console.log("up")'
  const child = spawn(process.execPath, [ready, '--', 'node', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([9, null])
})

test('[A3] a command that cannot be run gives an error with its name', () => {
  const { status, stderr } = run('--', 'no-such-tool-here')
  expect(status).toBe(1)
  expect(stderr).toContain('cannot run no-such-tool-here')
})

/** Stands for the build of the page. */
const pageScript = `import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('packages/web/dist/page', { recursive: true })
writeFileSync('packages/web/dist/page/index.html', '')
console.log('page built')
`

/** Stands for a compiler of two projects. */
const compiler = `#!/usr/bin/env node
console.log("10:49:12 PM - Projects in this build: \\n    * a/tsconfig.json\\n    * b/tsconfig.json\\n")
console.log("10:49:13 PM - Building project 'a/tsconfig.json'...\\n\\ncompiled", ...process.argv.slice(2))
`

/**
 * A small checkout: one package whose only dependency is a fake compiler that prints that it ran. Created once; each
 * test copies it.
 */
const small = mkdtempSync(join(tmpdir(), 'atrium-ready-'))
afterAll(() => rmSync(small, { recursive: true, force: true }))
beforeAll(() => {
  const folder = small
  mkdirSync(join(folder, 'scripts'))
  cpSync(ready, join(folder, 'scripts', 'ready.mjs'))
  cpSync(join(dirname(ready), 'progress.mjs'), join(folder, 'scripts', 'progress.mjs'))
  const name = { name: 'small', version: '1.0.0' }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ ...name, private: true, dependencies: { tool: 'file:tool' } }),
  )
  mkdirSync(join(folder, 'tool'))
  writeFileSync(
    join(folder, 'tool', 'package.json'),
    JSON.stringify({ name: 'tool', version: '1.0.0', bin: { tsc: 'tsc.js' } }),
  )
  writeFileSync(join(folder, 'tool', 'tsc.js'), compiler, {
    mode: 0o755,
  })
  mkdirSync(join(folder, 'packages', 'cli', 'scripts'), { recursive: true })
  writeFileSync(join(folder, 'packages', 'cli', 'scripts', 'bundle.mjs'), 'console.log("bundled")\n')
  mkdirSync(join(folder, 'packages', 'web', 'scripts'), { recursive: true })
  writeFileSync(join(folder, 'packages', 'web', 'scripts', 'page.mjs'), pageScript)
  spawnSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: folder })
})

function checkout(): { folder: string; go: (...args: readonly string[]) => ReturnType<typeof run> } {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-ready-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(small, folder, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const file = join(folder, 'scripts', 'ready.mjs')
  return { folder, go: (...args) => spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' }) }
}

test('[A3] a fresh clone is installed and built once, with messages on stderr', () => {
  const { go } = checkout()
  const first = go('--build', '--', 'node', '-e', 'console.log("ran")')
  expect(first.stdout).toBe('ran\n')
  expect(first.stderr).toMatch(
    /installing dependencies[\s\S]*building \(tsc -b\)\ncompiled -b --verbose\n(.*\n)+page built\n(.*\n)+bundled\n/,
  )
  // What the compiler says about its progress is shown as a share, and not as it is.
  expect(first.stderr).not.toContain('Building project')
  expect(first.stderr).toMatch(/building \(tsc -b\): done, \d+ s\n/)
  const second = go('--build', '--', 'node', '-e', '')
  expect(second.stderr).toBe('')
})

test('[A3.2] what npm start runs is built without the type check, and all other commands build the rest', () => {
  const { folder, go } = checkout()
  const compiled = 'compiled -b --verbose'
  expect(go('--run').stderr).toMatch(
    new RegExp(`\n${compiled} --noCheck packages/cli\n(.*\n)+page built\n(.*\n)+bundled\n`),
  )
  expect(go('--run').stderr).toBe('')
  mkdirSync(join(folder, 'proof'))
  expect(go('--run').stderr).toBe('')
  expect(go('--build').stderr).toContain(`\n${compiled}\n`)
  expect(go('--build').stderr).toBe('')
  expect(go('--run').stderr).toBe('')
})

test('[A3] without a bundle the command still runs', () => {
  const { folder, go } = checkout()
  writeFileSync(join(folder, 'packages', 'cli', 'scripts', 'bundle.mjs'), 'process.exit(1)\n')
  const { stdout, stderr } = go('--build', '--', 'node', '-e', 'console.log("ran")')
  expect(stdout).toBe('ran\n')
  expect(stderr).toContain('not bundled: the command will start more slowly')
  expect(go('--build', '--', 'node', '-e', '').stderr).toBe('')
})

test.each(['1', '', 'nonsense', '999999999'])('[A3] a stale lock with the pid %j does not block', (pid) => {
  const { folder, go } = checkout()
  const lock = join(folder, '.ready.lock')
  mkdirSync(lock)
  writeFileSync(join(lock, 'pid'), pid)
  expect(go('--build', '--', 'node', '-e', '').status).toBe(0)
  expect(readdirSync(folder).filter((name) => name.startsWith('.ready'))).toEqual([])
})

/** A stream that keeps what is written. */
function stream(isTTY: boolean) {
  const written: string[] = []
  return { isTTY, columns: 80, write: (text: string) => written.push(text) > 0, written }
}

test('[A3] the progress has a share and the seconds: one line at a terminal, which is rewritten, and further lines elsewhere', async () => {
  const { Progress, projectsIn } = (await import(progress)) as ProgressModule
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { count, line } = projectsIn()
  for (const text of [
    '10:49:12 PM - Projects in this build: ',
    '    * a/tsconfig.json',
    '    * b/tsconfig.json',
    '',
  ])
    expect(line(text)).toBe(true)
  expect(line("10:49:13 PM - Building project 'a/tsconfig.json'...")).toBe(true)
  expect(line('a.ts(1,1): error TS1005')).toBe(false)
  const [terminal, pipe] = [stream(true), stream(false)]
  const shown = [terminal, pipe].map((each) => new Progress(each, 'building', count))
  vi.advanceTimersByTime(10_000)
  for (const each of shown) each.end(true)
  const half = (seconds: number) => `atrium: building: 1 of 2 projects (50 %), ${seconds} s`
  expect(terminal.written).toContain(`\r\u001b[K${half(7)}`)
  expect(terminal.written.join('').match(/\n/g)).toHaveLength(1)
  expect(pipe.written).toEqual([
    'atrium: building\n',
    `${half(5)}\n`,
    `${half(10)}\n`,
    'atrium: building: done, 10 s\n',
  ])
})

test('[A3] the packages that npm has placed are counted, of those of the lock file that this machine needs', async () => {
  const { installedPackages } = (await import(progress)) as ProgressModule
  const folder = mkdtempSync(join(tmpdir(), 'atrium-ready-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const packages = {
    '': {},
    'packages/a': {},
    'node_modules/a': { link: true },
    'node_modules/b': {},
    'node_modules/c': {},
    'node_modules/d': { os: ['none'] },
  }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
  mkdirSync(join(folder, 'node_modules', 'b'), { recursive: true })
  const count = installedPackages(folder)
  expect(count()).toEqual({ done: 0, of: 2, what: 'packages' })
  writeFileSync(join(folder, 'node_modules', 'b', 'package.json'), '{}')
  expect(count()).toEqual({ done: 1, of: 2, what: 'packages' })
})
