import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ready = fileURLToPath(new URL('../scripts/ready.mjs', import.meta.url))
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [ready, ...args], { encoding: 'utf8' })

test('[A3] in a checkout that is ready nothing is said, and the command decides the output and the exit', () => {
  const { status, stdout, stderr } = run('--', 'node', '-e', 'console.log("out"); process.exit(7)')
  expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: 'out\n', stderr: '' })
})

test('[A3] a signal goes on to the command', async () => {
  const program =
    'process.on("SIGTERM", () => process.exit(9)); setInterval(() => {}, 1e6); console.log("up")'
  const child = spawn(process.execPath, [ready, '--', 'node', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([9, null])
})

test('[A3] a command that cannot be run is an error with its name', () => {
  const { status, stderr } = run('--', 'no-such-tool-here')
  expect(status).toBe(1)
  expect(stderr).toContain('cannot run no-such-tool-here')
})
