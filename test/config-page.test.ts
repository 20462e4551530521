import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fields } from '../packages/cli/src/serve/config-fields.ts'
import { root } from './files.ts'

test('[D2] the flags of docs/config.md are those of `atrium serve`', () => {
  const bin = join(root, 'packages/cli/bin/atrium.mjs')
  const { stdout } = spawnSync(process.execPath, [bin, 'serve', '--help'], { encoding: 'utf8' })
  const offered = [...stdout.matchAll(/^ +(--[a-z-]+)/gm)].map(([, flag]) => flag)
  const own = Object.values(fields).flatMap(({ flag = [] }) => flag)
  expect(offered.toSorted()).toEqual([...own, '--json'].toSorted())
})
