import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { pages, weigh } from '../bench/src/client/weight.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** All files that a file loads at run time. Imports of types do not count. */
function loadedWith(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found
  found.add(path)
  const text = readFileSync(`${root}${path}`, 'utf8')
  const imports = text.matchAll(/^(?:import|export) (?!type\b)[^'"]*?from '([^']+)'|^import '([^']+)'/gm)
  for (const [, from, alone] of imports) {
    const target = pathOf(path, from ?? alone ?? '')
    if (target !== undefined) loadedWith(target, found)
  }
  return found
}

function pathOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier)
  const ours = /^@atrium\/([^/]+)\/(.+)$/.exec(specifier)
  return ours ? `packages/${ours[1]}/src/${ours[2]}.ts` : undefined
}

const library = 'packages/protocol/src/schema.ts'

test.each(['client', 'shared/check', 'link/websocket', 'shared/globals', 'sessions', 'hosts'])(
  '[U9] %s.ts of the client loads no schema library',
  (name) => {
    const loaded = loadedWith(`packages/client/src/${name}.ts`)
    expect(loaded.size).toBeGreaterThan(0)
    expect([...loaded]).not.toContain(library)
  },
)

test('[U9] the check with all shapes does load the schema library', () => {
  expect([...loadedWith('packages/client/src/shared/schemas.ts')]).toContain(library)
})

test.each(pages)('[U9] $what: at most $goal KB, whichever bundler a page uses', async (page) => {
  const sizes = await weigh(page)
  expect([...sizes.keys()]).toEqual(['rolldown', 'esbuild'])
  for (const kilobytes of sizes.values()) expect(kilobytes).toBeLessThanOrEqual(page.goal)
})
