import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root, textOfTests } from './files.ts'
import { specItems } from './spec.ts'

const items = specItems()
const ids = items.map(({ id }) => id)
const named = new Set(textOfTests().match(/\[[A-Z]-?\d+\w*(?:\.\d+)?\]/g))

test('[A5] no two rules or sub-rules of the spec have the same id', () => {
  expect(ids.length).toBeGreaterThan(1000)
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})

test('[A5] no rule or sub-rule of the spec is longer than five lines of 130 columns', () => {
  expect(items.filter(({ text }) => text.length > 5 * 130)).toEqual([])
})

test('[A5] each sub-rule that a page, a comment or a test cites is in the spec', () => {
  const known = new Set(items.map(({ id }) => id))
  const unknown = filesBelow(root, /\.(?:md|tsx?|mjs)$/).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/(?<![\w.-])[A-Z]\d{1,2}\.\d{1,2}(?!\w|\.\d)/g)]
      .filter(([id]) => !known.has(id))
      .map(([id]) => `${relative(root, path)} cites ${id}`),
  )
  expect(unknown).toEqual([])
})

test.each(items)('[A5] $id of the spec is named in a test', ({ id }) => {
  expect(named.has(`[${id}]`)).toBe(true)
})
