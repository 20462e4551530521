import fc from 'fast-check'
import { expect, test } from 'vitest'
import { glob } from './glob.ts'

test.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'src/a.ts', false],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'src/deep/a.ts', true],
  ['src/**', 'src/a/b', true],
  ['src/**', 'src', false],
  ['src/**/test', 'src/test', true],
  ['src/**/test', 'src/a/b/test', true],
  ['src/**/test', 'src/atest', false],
  ['**/node_modules/**', 'a/node_modules/b/c', true],
  ['**/node_modules/**', 'a/my_node_modules/b', false],
  ['**', 'anything/at/all', true],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[!a-c]x', 'dx', true],
  ['[^a]', '/', false],
  ['[]]', ']', true],
  ['{a,b}/{c,d}*', 'b/dog', true],
  ['{a,b{c,d}}e', 'bde', true],
  ['{a,}b', 'b', true],
  ['{**/*.ts,**/*.js}', 'a.ts', true],
  ['{**/node_modules,**/.git}', 'node_modules', true],
  ['src/{**/a,b}', 'src/x/y/a', true],
  ['x{**/a,b}', 'xa', false],
  ['[!]a]', 'b', true],
  ['[!]a]', ']', false],
  ['\\*', '*', true],
  ['\\*', 'x', false],
  ['', '', true],
  ['a,b', 'a,b', true],
  ['𝒳*', '𝒳y', true],
])('[P9] [P9.3] %s and %s: %s', (pattern, path, matches) => {
  expect(glob(pattern)?.(path)).toBe(matches)
})

test.each(['[a', '[P9.3] {a', '{a,b', 'a\\', 'a'.repeat(1025)])('[P9] %j is not a valid glob', (pattern) => {
  expect(glob(pattern)).toBeUndefined()
})

test('[P9] [Q8.1] S-25: hostile globs take no exponential time', () => {
  const path = 'a'.repeat(3000)
  expect(glob(`${'*a'.repeat(200)}b`)?.(path)).toBe(false)
  expect(glob(`${'**/'.repeat(200)}b`)?.('a/'.repeat(1500))).toBe(false)
  expect(glob(`${'{a,aa}'.repeat(100)}b`)?.(path)).toBe(false)
})

test('[P9] a literal path matches itself and nothing else', () => {
  const plain = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '-', '_'), maxLength: 12 })
  fc.assert(
    fc.property(plain, plain, (a, b) => {
      expect(glob(a)?.(b)).toBe(a === b)
      expect(glob(a)?.(a)).toBe(true)
    }),
  )
})

test('[S-57 globLength] at 1,024: the pattern is accepted', () =>
  expect(glob('a'.repeat(1024))).toBeDefined())
test('[S-57 globLength] past 1,024: the pattern is refused', () =>
  expect(glob('a'.repeat(1025))).toBeUndefined())
