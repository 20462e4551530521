import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const main = fileURLToPath(new URL('../../dist/steady/main.js', import.meta.url))

/**
 * Stands for Vitest. Its program has a child that its parent leaves, as a host of `atrium run` is left. The child waits until it
 * was stopped: it looks at the clock often, and a stop takes at least 50 ms.
 */
const runner = `#!${process.execPath}
const { spawn } = require('node:child_process')
const wait = \`
  let before = Date.now(), longest = 0
  setInterval(() => {
    const now = Date.now()
    longest = Math.max(longest, now - before)
    before = now
    if (longest > 45) process.exit()
  }, 1)\`
const leave = \`require('node:child_process').spawn(process.execPath, ['-e', \${JSON.stringify(wait)}], { stdio: 'inherit' })
  setTimeout(() => process.exit(), 2000)\`
spawn(process.execPath, ['-e', leave], { stdio: ['ignore', 'pipe', 'inherit'] })
  .stdout.on('close', () => process.exit(process.argv[3] === 'patient' ? 0 : 1)).resume()
`

test('[B73] processes of a test file are stopped and continued, also those that were left; what fails is reported with the seed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-steady-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'vitest'), runner)
  chmodSync(join(folder, 'vitest'), 0o755)
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` }
  const args = ['--rounds', '1', '--seed', '5', 'patient', 'impatient']
  const { status, stdout } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env })
  expect(status).toBe(1)
  expect(stdout).toMatch(/^steady: 1 rounds, seed 5$/m)
  expect(stdout).toMatch(/^steady {2}[1-9]\d* stops {2}patient$/m)
  expect(stdout).toMatch(/^round 1 of impatient failed$/m)
  expect(stdout).toMatch(/^FAILED 1 of 1 {2}[1-9]\d* stops {2}impatient$/m)
  expect(stdout).toContain('again: npm run steady -- --seed 5 --rounds 1 patient impatient')
})

test.each([[], ['--rounds', '0', 'a'], ['--seed', 'x', 'a'], ['--often', 'a']])(
  '[B73] invalid arguments print the usage: %s',
  (...args) => {
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
    expect(status).toBe(2)
    expect(stderr).toContain('npm run steady --')
  },
)
