import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root } from './files.ts'
import { floors, folderCycles, importsOf, layerProblems } from './layers.ts'
import type { Doors, Source } from './layers.ts'

const sources = readdirSync(root, { withFileTypes: true })
  .filter(
    (entry) => entry.isDirectory() && ['packages', 'bench', 'conformance', 'proof'].includes(entry.name),
  )
  .flatMap((entry) => sourcesBelow(entry.name))
const doors = doorsOf()

test('[A1] [A1.1] files import lower layers only, and the pure layers are pure', () => {
  expect(sources.length).toBeGreaterThan(50)
  expect(layerProblems(sources, doors)).toEqual([])
})

test('[A1] no folders import one another in a cycle', () => {
  expect(folderCycles(sources)).toEqual([])
})

test('[A1] the table of the host in ARCHITECTURE.md has all its folders, in the order of the floors', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('## packages/')
  const table = text.find((section) => section.startsWith('host\n')) ?? ''
  const units = [...table.matchAll(/^\| `([\w.-]+)\/?`/gm)].map(([, unit]) => unit ?? '')
  const listed = units.filter((unit) => unit !== 'scenarios')
  const floor = (unit: string) => (floors['host'] ?? []).findIndex((each) => each.includes(unit))
  expect(listed).toEqual(listed.toSorted((a, b) => floor(a) - floor(b)))
  const folders = (floors['host'] ?? []).flat().filter((unit) => !unit.includes('/'))
  expect(listed.toSorted()).toEqual(folders.toSorted())
})

test('[A1.2] `Core` has at most twelve members, and the kernel imports no part', () => {
  const text = readFileSync(join(root, 'packages/host/src/kernel/core.ts'), 'utf8')
  const members = /interface Core \{\n([^]*?)\n\}/.exec(text)?.[1]?.match(/^  readonly \w+/gm) ?? []
  expect(members).toContain('  readonly log')
  expect(members.length).toBeLessThanOrEqual(12)
  expect(unitsBelow('kernel')).toEqual(['kernel', 'ports'])
})

test('[A1.2] the connection, the dispatch and what both import know no part', () => {
  const libraries = ['catalog', 'channels', 'kernel', 'plugins', 'ports']
  expect(unitsBelow('connection')).toEqual([
    'channels',
    'connection',
    'dialect',
    'dispatch',
    'kernel',
    'ports',
  ])
  expect(unitsBelow('dispatch')).toEqual(['channels', 'dispatch', 'kernel'])
  for (const unit of ['dialect', 'channels', 'catalog'])
    for (const each of unitsBelow(unit)) expect([...libraries, unit]).toContain(each)
})

test('[A1] only the doors of a package are imported by other packages', () => {
  const text = "import { x } from '@atrium/adapters/acp/plan'"
  expect(layerProblems([{ path: 'packages/cli/src/main.ts', text }], doors).join()).toContain(
    'no door of adapters',
  )
})

test.each([
  [
    'packages/host/src/kernel/log/a.ts',
    "import { b } from '../../catalog/b.ts'",
    'catalog is not below kernel/log',
  ],
  [
    'packages/host/src/parts/terminal/a.ts',
    "import { b } from '../auth/b.ts'",
    'parts/auth is not below parts/terminal',
  ],
  ['packages/host/src/open.ts', "import { b } from './host.ts'", 'host.ts is not below open.ts'],
  ['packages/adapters/src/acp/process/a.ts', "import { b } from '../b.ts'", 'acp is not below acp/process'],
  ['packages/host/src/new.ts', "import { b } from './kernel/b.ts'", 'in no unit'],
])('[A1] %s with %j points up or sideways', (path, text, problem) => {
  expect(layerProblems([{ path, text }]).join()).toContain(problem)
})

test('[A2] the sources of the packages have no JavaScript, which no compiler checks', () => {
  expect(below('packages').filter((path) => /\/src\/.*\.[cm]?jsx?$/.test(path))).toEqual([])
})

test('[A2] no folder holds more than 30 files', () => {
  const counts = new Map<string, number>()
  for (const path of below('packages').concat(below('bench'), below('conformance'), below('proof')))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  expect([...counts].filter(([, count]) => count > 30)).toEqual([])
})

test.each([
  ['packages/protocol/src/a.ts', "import { x } from '@atrium/host/log'", 'imports a higher layer'],
  [
    'packages/host/src/a.ts',
    "import type { X } from '@atrium/adapters/store/sqlite'",
    'imports a higher layer',
  ],
  ['packages/client/src/a.ts', "export * from '@atrium/host/log'", 'imports a higher layer'],
  [
    'packages/host/src/a.ts',
    "import {\n  readFile,\n} from 'node:fs/promises'",
    'may not import node:fs/promises',
  ],
  ['packages/host/src/a.ts', "const fs = await import('node:fs')", 'may not import node:fs'],
  ['packages/protocol/src/a.ts', "import { z } from 'zod'", 'may not import zod'],
  ['packages/adapters/src/guide/guide.ts', "import type { Tool } from 'ai'", 'may not import ai'],
  ['packages/cli/src/a.ts', "await import('@ai-sdk/openai')", 'may not import @ai-sdk/openai'],
  ['packages/host/src/a.ts', "import { oracle } from '@atrium/protocol/oracles'", 'may not import'],
  ['packages/web/src/ui/a.tsx', "import type { X } from '@atrium/client/client'", 'may not import'],
  ['packages/protocol/src/a.ts', "import { x } from '../../host/src/log.ts'", 'another package'],
  ['packages/protocol/src/a.ts', "import { x } from './index.ts'", 'index of its own package'],
  ['packages/protocol/src/a.ts', 'const now = Date.now()', 'may not use Date.now'],
  ['packages/host/src/a.ts', 'setTimeout(() => {}, 1)', 'may not use setTimeout'],
  ['packages/nowhere/src/a.ts', "import { x } from './b.ts'", 'no such layer'],
])('[A1] %s with %j is reported', (path, text, problem) => {
  expect(layerProblems([{ path, text }]).join()).toContain(problem)
})

test('[A1] an import cycle is reported, also one of types', () => {
  const cycle = [
    { path: 'packages/host/src/a.ts', text: "import type { B } from './b.ts'" },
    { path: 'packages/host/src/b.ts', text: "import { a } from './a.ts'" },
  ]
  expect(layerProblems(cycle).join()).toContain('import cycle')
})

test('[A2] files stay small: the median at most 100 lines, none over 300', () => {
  const lengthOf = ({ text }: Source) => text.split('\n').length - 1
  const lengths = sources.map(lengthOf).toSorted((a, b) => a - b)
  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(100)
  const over = sources.filter((source) => lengthOf(source) > 300).map(({ path }) => path)
  expect(over).toEqual([])
})

/** The folders of the host that the files below a folder import, with itself. */
function unitsBelow(folder: string): readonly string[] {
  const files = sources.filter(({ path }) => path.startsWith(`packages/host/src/${folder}/`))
  const imported = files.flatMap(({ path, ...source }) =>
    importsOf({ path, ...source })
      .filter((each) => each.startsWith('.'))
      .map((each) => posix.join(posix.dirname(path), each)),
  )
  return [...new Set(imported.map((path) => path.split('/')[3] ?? ''))].toSorted()
}

/** The sources that ship: neither tests nor contract suites. */
function sourcesBelow(folder: string): readonly Source[] {
  return below(folder)
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|contract|d)\.tsx?$/.test(path))
    .filter((path) => !/\/(test|scripts)\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Every file below a folder of the repository. Paths have forward slashes. */
function below(folder: string): readonly string[] {
  return filesBelow(join(root, folder), /./).map((path) => relative(root, path).split(sep).join('/'))
}

/** For each package, the keys of its export map. */
function doorsOf(): Doors {
  const named = ['protocol', 'client', 'host', 'adapters'].map((layer) => {
    const file = join(root, 'packages', layer, 'package.json')
    return [layer, Object.keys(JSON.parse(readFileSync(file, 'utf8')).exports)] as const
  })
  return Object.fromEntries(named)
}
