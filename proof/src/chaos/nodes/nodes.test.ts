import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const main = fileURLToPath(new URL('../../../dist/chaos/main.js', import.meta.url))

test('[B72] [L42] three real nodes on a real database are broken under load, and nothing is lost', ({
  skip,
}) => {
  const above = mkdtempSync(join(tmpdir(), 'atrium-chaos-nodes-'))
  onTestFinished(() => rmSync(above, { recursive: true }))
  const args = ['--only', 'nodes', '--rounds', '1', '--seed', '8', '--folder', join(above, 'run')]
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
  skip(stdout.includes('nodes: no postgres'), 'no postgres')
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('1 of 1: ') })
  expect(stdout).toMatch(/^runs judged +1$/m)
  expect(stdout).toMatch(/^violations +0$/m)
})
