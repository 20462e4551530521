import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { extensionRoles } from '../packages/host/src/connection/extensions/extensions.ts'
import { actionRoles, commandRoles } from '../packages/host/src/roles/roles.ts'

/** The lines of docs/roles.md, without the spaces between the columns of its tables. */
const lines = readFileSync(fileURLToPath(new URL('../docs/roles.md', import.meta.url)), 'utf8')
  .split('\n')
  .map((line) => line.replaceAll(/ *\| */g, '|'))

test.each([
  ['command', commandRoles],
  ['further command', extensionRoles],
  ['action', actionRoles],
])('[T8] [T8.1] docs/roles.md has the role of every %s, and no other', (heading, table) => {
  const at = lines.indexOf(`|${heading}|role|`)
  const rows = lines.slice(at + 2, lines.indexOf('', at))
  const expected = Object.entries(table).map(
    ([name, needed]) => `|\`${name}\`|${typeof needed === 'string' ? needed : 'prompt or own'}|`,
  )
  expect(rows).toEqual(expected)
})
