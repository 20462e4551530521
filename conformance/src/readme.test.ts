import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Rule, Topic } from './kit/rule.ts'
import { absentIn, judgedVersions } from './kit/version.ts'
import { topics } from './rules/all.ts'

test('[C11] the README lists every rule with its topic, title, source, level and first version', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const rows = text.split('\n').filter((line) => /^\| K\d+ /.test(line))
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  const rules = topics.flatMap((topic) =>
    topic.rules.map((rule) => [rule.id, topic.name, rule.title, rule.source, remarkOn(topic, rule)]),
  )
  expect(cells).toEqual(rules)
})

function remarkOn(topic: Topic, rule: Rule): string {
  const oldest = judgedVersions.findLast((version) => absentIn(version, topic, rule) === undefined)
  const since = oldest === judgedVersions.at(-1) ? [] : [`since ${oldest}`]
  return [...(rule.recommended ? ['recommended'] : []), ...since].join(', ')
}
