import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gaps } from '@atrium/protocol/versions/gaps'
import { versions } from '@atrium/protocol/versions/negotiate'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(join(root, 'docs/versions.md'), 'utf8')
/** The rows of the tables, without the spaces between columns. */
const rows = page.split('\n').map((line) => line.replaceAll(/ *\| */g, '|'))

test('[V10] docs/versions.md has every gap, and no other', () => {
  const expected = gaps.map(
    ({ upTo, downTo, kind, what, reason }) =>
      `|${downTo === undefined || downTo === versions[0] ? `up to ${upTo}` : `${downTo} to ${upTo}`}|${kind}|${what}|${reason}|`,
  )
  const heading = rows.indexOf('|Versions|Channel|What|Why|')
  const written = rows.slice(heading + 2, rows.indexOf('', heading))
  expect(written).toEqual(expected)
})

test('[V8] every case that needed a decision is on docs/versions.md, and is named in a test', () => {
  const cases = rows.flatMap((line) => /^\|(HC-\d+)\|/.exec(line)?.[1] ?? [])
  expect(cases).toEqual(Array.from({ length: 34 }, (_, n) => `HC-${n + 1}`))
  const tests = testsIn(join(root, 'packages')).join('\n')
  expect(cases.filter((name) => !tests.includes(`[${name}]`))).toEqual([])
})

function testsIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : testsIn(path)
    return entry.name.endsWith('.test.ts') ? [readFileSync(path, 'utf8')] : []
  })
}
