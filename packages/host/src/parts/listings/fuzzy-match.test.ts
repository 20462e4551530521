import fc from 'fast-check'
import { expect, test } from 'vitest'
import { best, fold } from './fuzzy-match.ts'
import { cpuMs } from '../../../test/load.ts'

const paths = (...all: readonly string[]) => all.map((path) => ({ path, folded: fold(path) }))
const found = (typed: string, all: readonly string[], most = 100) =>
  best(paths(...all), typed, most).map(({ item }) => item.path)

test('[J2.2] [J2] better matches come first', () => {
  const ranked = [
    'lib/log',
    'src/log.ts',
    'log/a.ts',
    'src/logs/a.ts',
    'src/catalog.ts',
    'src/dialogs/a.ts',
    'src/long-dog.ts',
  ]
  expect(found('log', ranked.toReversed())).toEqual(ranked)
  expect(found('LOG', ranked.toReversed())).toEqual(ranked)
  expect(found('log', ranked, 3)).toEqual(ranked.slice(0, 3))
})

test('[J2] a path is found by some of its names, and by letters in their order', () => {
  const all = ['packages/host/src/log.ts', 'packages/host/test/log.ts', 'README.md']
  expect(found('src/log', all)).toEqual(all.slice(0, 1))
  expect(found('packages/host', all)).toEqual(all.slice(0, 2))
  expect(found('hosrlo', all)).toEqual(all.slice(0, 1))
  expect(found('zlog', all)).toEqual([])
  expect(found('', all)).toEqual(all)
})

test('[J2] repeated letters do not confuse the search', () => {
  expect(best(paths('xaaab'), 'aab', 1)).toMatchObject([{ score: 4 }])
  expect(best(paths('xabaabaab'), 'abaabaab', 1)).toMatchObject([{ score: 4 }])
  expect(found('ababc', ['abababc', 'ab/ababc'])).toEqual(['ab/ababc', 'abababc'])
})

test('[J2] a text finds every name that contains it, and none that lacks a letter of it', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 })
  fc.assert(
    fc.property(word, word, (typed, text) => {
      const [hit] = best(paths(text), typed, 1)
      expect(hit !== undefined && hit.score < 6).toBe(text.includes(typed))
      let letters = 0
      for (const letter of text) if (letter === typed[letters]) letters++
      expect(hit !== undefined).toBe(letters === typed.length)
    }),
    { numRuns: 2000 },
  )
})

test('[J2] [S-25] the time is proportional to the length of the names, whatever was typed', () => {
  const all = Array.from({ length: 2000 }, (_, i) => `${'a'.repeat(1000)}${i}`)
  const started = cpuMs()
  expect(found(`${'a'.repeat(255)}b`, all)).toEqual([])
  // A comparison of every letter with every letter would take half a billion steps.
  expect(cpuMs() - started).toBeLessThan(1500)
})

test('[J2] names of object properties are names like others', () => {
  expect(found('__proto__', ['__proto__', 'constructor'])).toEqual(['__proto__'])
})
