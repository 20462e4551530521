import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const run = (main: string, ...args: readonly string[]) => {
  const path = fileURLToPath(new URL(main, import.meta.url))
  return spawnSync(process.execPath, [path, ...args], { encoding: 'utf8' })
}

test.each([
  ['chaos', '../dist/chaos/main.js'],
  ['simulate', '../dist/simulate/main.js'],
  ['agents', '../dist/agents/main.js'],
  ['vscode', '../dist/vscode/main.js'],
  ['soak', '../dist/soak/main.js'],
])('[A3.1] npm run %s prints its usage for --help, and for an option that it does not know', (name, main) => {
  const usage = expect.stringContaining(`usage: npm run ${name}`)
  expect(run(main, '--help')).toMatchObject({ status: 0, stdout: usage, stderr: '' })
  const { status, stdout, stderr } = run(main, '--nonsense')
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: usage })
  expect(stderr).toMatch(/^Unknown option '--nonsense'\n\n/)
})
