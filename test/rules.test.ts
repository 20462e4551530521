import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const spec = readFileSync(join(root, 'SPEC.md'), 'utf8')
/** The rules that need a test of their own. Rules B are checked by the commands of proof, invariants I by all tests. */
const rules = [...spec.matchAll(/^- \*\*([A-Z]\d+) /gm)].flatMap(([, id = '']) =>
  /^[BI]/.test(id) ? [] : [id],
)
const titles = ['packages', 'test', 'proof', 'conformance', 'bench'].flatMap((folder) =>
  testsBelow(join(root, folder)),
)

test('[A5] no two rules of SPEC.md have the same id', () => {
  expect(rules.length).toBeGreaterThan(100)
  expect(rules.filter((id, at) => rules.indexOf(id) !== at)).toEqual([])
})

test.each(rules)('[A5] rule %s of SPEC.md is named in a test', (id) => {
  expect(titles.some((text) => text.includes(`[${id}]`))).toBe(true)
})

function testsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return testsBelow(path)
    return /\.(test|contract)\.ts$/.test(entry.name) ? [readFileSync(path, 'utf8')] : []
  })
}
