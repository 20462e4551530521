import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { limitTable, limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const rows = Object.entries(limitTable)
const formatted = (value: number) => value.toLocaleString('en-US')

test('S-57: the table of limits in docs/spec equals the table in the code', () => {
  const lines = readFileSync(join(root, 'docs/spec/limits.md'), 'utf8').split('\n')
  const start = lines.findIndex((line) => /^\| limit +\|/.test(line))
  const table = lines.slice(start + 2, start + 2 + rows.length + 1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  const ours = rows.map(([name, { value, unit, rule, past }]) => [name, formatted(value), unit, rule, past])
  expect(table).toEqual([...ours, []])
  expect(limits).toEqual(Object.fromEntries(rows.map(([name, { value }]) => [name, value])))
})

test.each(rows)('S-57: %s has a test at its value and one past it', (name, { value }) => {
  const titles = testsBelow(join(root, 'packages')).join('\n')
  for (const where of ['at', 'past'])
    expect(titles.includes(`[S-57 ${name}] ${where} ${formatted(value)}`), where).toBe(true)
})

let cached: readonly string[] | undefined

function testsBelow(folder: string): readonly string[] {
  cached ??= filesBelow(folder)
    .filter((path) => /\.(test|contract)\.ts$/.test(path))
    .map((path) => readFileSync(path, 'utf8'))
  return cached
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}
