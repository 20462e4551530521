import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { topics } from './rules/all.ts'

test('[C11] the README lists every rule with its topic, title and source', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const rows = text.split('\n').filter((line) => /^\| K\d+ /.test(line))
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  const rules = topics.flatMap(({ name, rules: all }) =>
    all.map(({ id, title, source }) => [id, name, title, source]),
  )
  expect(cells).toEqual(rules)
})
