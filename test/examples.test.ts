import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('[A4] examples/fold.mjs runs as it is printed', () => {
  const path = fileURLToPath(new URL('../examples/fold.mjs', import.meta.url))
  const { stdout, stderr } = spawnSync(process.execPath, [path], { encoding: 'utf8' })
  expect({ stdout, stderr }).toEqual({ stdout: 'Hello, world. true 2026-01-01T00:00:02.500Z\n', stderr: '' })
})
