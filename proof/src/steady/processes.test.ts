import { spawn } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Descendants } from './processes.ts'

test('[B73] a process that its test has stopped is not chosen, because it would be continued', async () => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const descendants = new Descendants(process.pid)
  const isThere = (is: boolean) =>
    vi.waitUntil(() => descendants.now().includes(child.pid ?? 0) === is, { timeout: 120_000 })
  await isThere(true)
  child.kill('SIGSTOP')
  await isThere(false)
  child.kill('SIGCONT')
  await isThere(true)
  expect(child.exitCode).toBe(null)
})
