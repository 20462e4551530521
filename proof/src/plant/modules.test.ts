import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Modules } from './modules.ts'

const built = {
  'a.js':
    "import { b as two, list } from './below/b.js';\nimport * as posix from 'node:path/posix';\nexport function a() {\n    return posix.join(two(), ...list);\n}\nexport { b as alsoB } from './below/b.js';\n",
  'below/b.js':
    "import { c } from './c.js';\nexport const b = () => c.join('');\nexport const [first, second] = c;\nexport const list = [];\n",
  'below/c.js': "export class Kept {\n}\nexport const c = ['1', '2'];\n",
}

function modules(files: Record<string, string> = built): Modules {
  const folder = join(mkdtempSync(join(tmpdir(), 'atrium-modules-')), 'dist')
  mkdirSync(join(folder, 'below'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return new Modules(join(folder, 'a.js'))
}

/** What the entry says with this patch. */
function said(of: Modules, ...patches: Parameters<Modules['load']>[0]): unknown {
  const { a, alsoB } = of.load(patches)
  if (typeof a !== 'function' || typeof alsoB !== 'function') throw new Error('an export is missing')
  return `${a()} ${alsoB()}`
}

test('[B1] modules are loaded with one patch after the other, and without', () => {
  const all = modules()
  expect(said(all)).toBe('12 12')
  expect(said(all, { file: 'dist/below/c.js', find: "'2'", put: "'3'" })).toBe('13 13')
  expect(said(all, { file: 'dist/a.js', find: 'two()', put: '`${two()}!`' })).toBe('12! 12')
  expect(said(all)).toBe('12 12')
})

test('[B1] all modules run again, so that nothing is left of the load before', () => {
  const all = modules()
  expect(all.load([])['alsoB']).not.toBe(all.load([])['alsoB'])
})

test('[B1] a patch without its file, or without its place, is an error', () => {
  expect(() => modules().load([{ file: 'dist/d.js', find: '1', put: '2' }])).toThrow(
    'does not load dist/d.js',
  )
  expect(() => modules().load([{ file: 'dist/a.js', find: 'three()', put: '' }])).toThrow('has 0 places')
})

test('[B1] a line that is no import or export of this compiler is an error', () => {
  expect(() => modules({ ...built, 'a.js': "export * from './below/b.js';\n" }).load([])).toThrow(
    'export * from',
  )
})
