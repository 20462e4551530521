import { readFileSync, readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { layerProblems } from './layers.ts'
import type { Source } from './layers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = readdirSync(root, { withFileTypes: true })
  .filter(
    (entry) => entry.isDirectory() && ['packages', 'bench', 'conformance', 'proof'].includes(entry.name),
  )
  .flatMap((entry) => sourcesBelow(entry.name))

test('[A1] imports point down, and the pure layers are pure', () => {
  expect(sources.length).toBeGreaterThan(50)
  expect(layerProblems(sources)).toEqual([])
})

test.each([
  ['packages/protocol/src/a.ts', "import { x } from '@atrium/host/log'", 'points up'],
  ['packages/host/src/a.ts', "import type { X } from '@atrium/adapters/store/sqlite'", 'points up'],
  ['packages/client/src/a.ts', "export * from '@atrium/host/log'", 'points up'],
  [
    'packages/host/src/a.ts',
    "import {\n  readFile,\n} from 'node:fs/promises'",
    'may not know node:fs/promises',
  ],
  ['packages/host/src/a.ts', "const fs = await import('node:fs')", 'may not know node:fs'],
  ['packages/protocol/src/a.ts', "import { z } from 'zod'", 'may not know zod'],
  ['packages/adapters/src/guide/guide.ts', "import type { Tool } from 'ai'", 'may not know ai'],
  ['packages/cli/src/a.ts', "await import('@ai-sdk/openai')", 'may not know @ai-sdk/openai'],
  ['packages/protocol/src/a.ts', "import { x } from '../../host/src/log.ts'", 'another package'],
  ['packages/protocol/src/a.ts', "import { x } from './index.ts'", 'door of its own package'],
  ['packages/protocol/src/a.ts', 'const now = Date.now()', 'may not use Date.now'],
  ['packages/host/src/a.ts', 'setTimeout(() => {}, 1)', 'may not use setTimeout'],
  ['packages/nowhere/src/a.ts', "import { x } from './b.ts'", 'no such layer'],
])('[A1] %s with %j is found out', (path, text, problem) => {
  expect(layerProblems([{ path, text }]).join()).toContain(problem)
})

test('[A1] a ring of files is found out, also one of types', () => {
  const ring = [
    { path: 'packages/host/src/a.ts', text: "import type { B } from './b.ts'" },
    { path: 'packages/host/src/b.ts', text: "import { a } from './a.ts'" },
  ]
  expect(layerProblems(ring).join()).toContain('a ring')
})

test('[A2] files stay small: the median at most 100 lines, none over 400', () => {
  const lengths = sources.map(({ text }) => text.split('\n').length - 1).toSorted((a, b) => a - b)
  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(100)
  expect(sources.filter(({ text }) => text.split('\n').length > 400).map(({ path }) => path)).toEqual([])
})

/** What ships: no tests, no contract suites. */
function sourcesBelow(folder: string): readonly Source[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return ['dist', 'node_modules', 'test', 'scripts'].includes(entry.name) ? [] : sourcesBelow(path)
    if (!/\.tsx?$/.test(path) || /\.(test|contract|d)\.tsx?$/.test(path)) return []
    return [{ path: path.split(sep).join('/'), text: readFileSync(join(root, path), 'utf8') }]
  })
}
