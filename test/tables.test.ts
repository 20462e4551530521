import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './files.ts'
import { tables, withTables } from './tables.ts'

/** The rules whose tables a page has. `npm run tables` runs this file and writes the pages. */
const pages = [
  ['[S-57]', 'docs/spec/limits.md'],
  ['[T8.1]', 'docs/roles.md'],
  ['[D2] [Z27]', 'docs/config.md'],
] as const

test.each(pages)('[A11] %s the tables of %s are those of the code', async (_, page) => {
  const path = join(root, page)
  await expect(withTables(readFileSync(path, 'utf8'))).toMatchFileSnapshot(path)
})

test('[A11] each table that the code knows is on a page, and no page names another', () => {
  const text = pages.map(([, page]) => readFileSync(join(root, page), 'utf8')).join('\n')
  const named = [...text.matchAll(/^<!-- table: (.+) -->$/gm)].map(([, name]) => name)
  expect(named.toSorted()).toEqual([...tables.keys()].toSorted())
  expect(() => withTables('<!-- table: colours -->\n<!-- end -->')).toThrow('there is no table colours')
})
