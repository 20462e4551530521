import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const ready = fileURLToPath(new URL('../scripts/ready.mjs', import.meta.url))
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
  writeFileSync(join(folder, 'tool', 'tsc.js'), '#!/usr/bin/env node\nconsole.log("compiled")\n', {
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
    /installing dependencies[\s\S]*building \(tsc -b\)\ncompiled\n.*\npage built\nbundled\n/,
  )
  const second = go('--build', '--', 'node', '-e', '')
  expect(second.stderr).toBe('')
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
