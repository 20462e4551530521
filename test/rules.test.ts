import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { spec, specItems } from './spec.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/**
 * The ids of the rules that must be named in a test. The proof commands check rules B, and all tests check invariants
 * I, so neither are in this list.
 */
const rules = [...spec.matchAll(/^- \*\*([A-Z]\d+) /gm)].flatMap(([, id = '']) =>
  /^[BI]/.test(id) ? [] : [id],
)
const titles = ['packages', 'test', 'proof', 'conformance', 'bench'].flatMap((folder) =>
  testsBelow(join(root, folder)),
)

test('[A5] no two rules of the spec have the same id', () => {
  expect(rules.length).toBeGreaterThan(100)
  expect(rules.filter((id, at) => rules.indexOf(id) !== at)).toEqual([])
})

test('[A5] no rule or sub-rule of the spec is longer than five lines of 130 columns', () => {
  expect(specItems().filter(({ text }) => text.length > 5 * 130)).toEqual([])
})

test.each(rules)('[A5] rule %s of the spec is named in a test', (id) => {
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
