import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, textOfTests } from './files.ts'

test('[V8] every case that needed a decision is on docs/versions.md, and is named in a test', () => {
  const page = readFileSync(join(root, 'docs/versions.md'), 'utf8')
  const cases = [...page.matchAll(/^\| (HC-\d+) \|/gm)].map(([, name]) => name)
  expect(cases).toEqual(Array.from({ length: 34 }, (_, n) => `HC-${n + 1}`))
  const tests = textOfTests()
  expect(cases.filter((name) => !tests.includes(`[${name}]`))).toEqual([])
})
