import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fields } from '../packages/cli/src/serve/config-fields.ts'
import { rootConfig } from '../packages/host/src/root/root.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** The lines of docs/config.md. The rows of its tables have no spaces between columns. */
const lines = readFileSync(join(root, 'docs/config.md'), 'utf8')
  .split('\n')
  .map((line) => line.replaceAll(/ *\| */g, '|'))

/** The rows of the table with this heading. */
function rowsUnder(heading: string): readonly string[] {
  const at = lines.indexOf(heading)
  expect(at).toBeGreaterThan(0)
  return lines.slice(at + 2, lines.indexOf('', at))
}

test('[D2] docs/config.md has every setting of `atrium serve`, and no other', () => {
  const expected = Object.entries(fields).map(
    ([key, { flag, variable, wants, about }]) =>
      `|\`${key}\`|${flag === undefined ? '' : `\`${flag}\``}|\`${variable}\`|${about}|${wants}|`,
  )
  expect(rowsUnder('|setting|flag|variable|what it does|must be|')).toEqual(expected)
})

test('[D2] the flags of docs/config.md are those of `atrium serve`', () => {
  const bin = join(root, 'packages/cli/bin/atrium.mjs')
  const { stdout } = spawnSync(process.execPath, [bin, 'serve', '--help'], { encoding: 'utf8' })
  const offered = [...stdout.matchAll(/^ +(--[a-z-]+)/gm)].map(([, flag]) => flag)
  const own = Object.values(fields).flatMap(({ flag = [] }) => flag)
  expect(offered.toSorted()).toEqual([...own, '--json'].toSorted())
})

test('[Z27] docs/config.md has every setting of the host that clients can change, and no other', () => {
  const expected = Object.entries(rootConfig.properties).map(
    ([key, { description = '' }]) => `|\`${key}\`|${description}|`,
  )
  expect(rowsUnder('|setting|what it does|')).toEqual(expected)
})
