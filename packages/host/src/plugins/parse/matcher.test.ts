import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matcherOf } from './matcher.ts'

test.each([
  ['Write|Edit', ['Write', 'Edit'], ['TodoWrite', 'Writ', 'Write|Edit', '']],
  ['^Write$|^Edit$', ['Write', 'Edit'], ['^Write$', 'Edits']],
  ['mcp__.*', ['mcp__', 'mcp__db__query'], ['mcp_', 'xmcp__']],
  ['Notebook(Edit|Read)?', ['Notebook', 'NotebookEdit'], ['NotebookEditRead']],
  ['(?:ab)+', ['ab', 'abab'], ['', 'aba']],
  ['[A-Za-z_-]+\\.ts', ['a-b.ts', '_.ts'], ['a1.ts', 'axts']],
  ['[^/]+', ['a'], ['a/b']],
  ['\\w\\d\\s', ['a1 '], ['a11']],
  ['a{2}b{1,}', ['aab', 'aabb'], ['ab', 'aaab']],
  ['(?<name>a)+?', ['a', 'aa'], ['']],
  ['\\bWrite\\b', ['Write'], ['Writes']],
  ['', [''], ['a']],
])('[K5.3] [K5] the matcher %j', (expression, yes, no) => {
  const matches = matcherOf(expression)
  expect(yes.filter((text) => matches?.(text) !== true)).toEqual([])
  expect(no.filter((text) => matches?.(text) !== false)).toEqual([])
})

test.each([
  '(',
  ')',
  '[',
  '[b-a]',
  '*',
  'a**',
  'a{2,1}',
  'a{9999}',
  '(?=a)',
  '(a)\\1',
  '\\b*',
  '\\',
  'x'.repeat(1025),
])('[K5.3] [K5] the expression %j is not supported', (expression) =>
  expect(matcherOf(expression)).toBeUndefined(),
)

test('[K5] [S-25] [K5.3] an expression that takes exponential time elsewhere is matched at once', () => {
  const text = `${'a'.repeat(1000)}!`
  for (const expression of ['(a+)+', '(a|a)*', '(a*)*', '((a*)*)*', '(.*a)*', '.*'.repeat(100)])
    expect(matcherOf(expression)?.(text)).toBe(expression.startsWith('.'))
})

test('[K5] a matcher agrees with the platform, for arbitrary supported expressions', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '(a|b)',
    '(?:ab)',
    '|',
    'a*',
    'b+',
    '(ab)?',
    '\\w',
    '(a*b)*',
  )
  const expression = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''))
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
  fc.assert(
    fc.property(expression, text, (source, given) => {
      expect(matcherOf(source)?.(given)).toBe(new RegExp(`^(?:${source})$`).test(given))
    }),
  )
})
