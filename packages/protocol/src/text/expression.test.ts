import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineFinder, wholeMatcher } from './expression.ts'

const found = (expression: string, text: string, ignoreCase = false) => {
  const compiled = lineFinder(expression, ignoreCase)
  if (!compiled.ok) return compiled.problem
  const lines: string[] = []
  for (const each of compiled.value(text, 1_000_000))
    if (each) lines.push(`${each.line}:${text.slice(each.from, each.to)}`)
  return lines
}

test.each([
  ['b', 'abc\nx\r\nb\r\n', ['1:abc', '3:b']],
  ['^b$', 'abc\nb\r\nb', ['2:b', '3:b']],
  ['^$', 'a\n\nb\n', ['2:']],
  ['^$', '', ['1:']],
  ['$', 'a\n', ['1:a']],
  ['a.c', 'abc\na\nc', ['1:abc']],
  ['\\bfoo\\b', 'foo()\nfood\na foo', ['1:foo()', '3:a foo']],
  ['\\Boo', 'foo\noo', ['1:foo']],
  ['x{2}', 'x\nxx\nyxxxy', ['2:xx', '3:yxxxy']],
  ['^x{1,2}$', 'x\nxx\nxxx', ['1:x', '2:xx']],
  ['^(ab){2,}$', 'ab\nabab\nababab', ['2:abab', '3:ababab']],
  ['a*?b', 'aaab\nc', ['1:aaab']],
  ['if (x) {', 'if (x) {\nif x {', ['2:if x {']],
  ['if \\(x\\) {', 'if (x) {\nif x {', ['1:if (x) {']],
  ['a{,2}', 'a{,2}\naa', ['1:a{,2}']],
  ['[\\w-]+@[^@\\s]+', 'a-b@c.d\n@', ['1:a-b@c.d']],
  ['[]', '', 'a set of characters is empty; write \\] for a bracket'],
  ['[\\]x]', ']\ny', ['1:]']],
  ['[a-]', '-\nb', ['1:-']],
  ['\\d\\D\\s\\S', '1a b\n11 b', ['1:1a b']],
  ['\\x41\\u0042\\u{43}', 'ABC\nabc', ['1:ABC']],
  ['(?<year>\\d+)-(?P<month>\\d+)', '2026-01\n2026', ['1:2026-01']],
  ['a|^b', 'xa\nb\nxb', ['1:xa', '2:b']],
  ['^.$', '😀\nab', ['1:😀']],
  ['^[^a]$', '😀\na', ['1:😀']],
  ['[^a]', 'a\nab', ['2:ab']],
  ['\\t', 'a\tb\na b', ['1:a\tb']],
  ['a\nb', 'a\nb', []],
])('[N22.3] [N22] the expression %j in %j', (expression, text, expected) => {
  expect(found(expression, text)).toEqual(expected)
})

test('[N22] letter case is ignored on request, also in sets and beyond ASCII', () => {
  expect(found('door', 'DOOR\nDoor', true)).toEqual(['1:DOOR', '2:Door'])
  expect(found('(?i)door', 'DOOR')).toEqual(['1:DOOR'])
  expect(found('door', 'DOOR')).toEqual([])
  expect(found('^[a-c]+$', 'ABC\nD', true)).toEqual(['1:ABC'])
  expect(found('[^a]', 'A\nB', true)).toEqual(['2:B'])
  expect(found('ÜBER|жук', 'über\nЖУК', true)).toEqual(['1:über', '2:ЖУК'])
})

test.each([
  ['(', 'the "(" at character 1 is not closed'],
  ['a)', 'there is a ")" without a "("'],
  ['[a', 'the "[" at character 1 is not closed'],
  ['[', 'the "[" at character 1 is not closed'],
  ['[b-a]', 'a range of characters is in the wrong order'],
  ['*a', 'there is nothing to repeat'],
  ['a**', 'there is nothing to repeat'],
  ['a|{2}', 'there is nothing to repeat'],
  ['^*', 'there is nothing to repeat'],
  ['\\b+', 'there is nothing to repeat'],
  ['a{3,2}', 'the numbers of {3,2} are in the wrong order'],
  ['(?=a)', 'lookahead and lookbehind are not supported'],
  ['(?<!a)b', 'lookahead and lookbehind are not supported'],
  ['(a)\\1', 'back references are not supported'],
  ['\\k<a>', 'back references are not supported'],
  ['\\p{L}', '\\p is not supported'],
  ['a(?i)b', 'flags are supported only as (?i)'],
  ['(?', 'flags are supported only as (?i)'],
  ['[[:alpha:]]', 'named sets like [:alpha:] are not supported'],
  ['a\\', 'the last "\\" escapes nothing'],
  ['a{999999999}', 'its repetitions are too many'],
  ['((a{64}){64}){64}', 'its repetitions are too many'],
  ['(){999999999}', 'its repetitions are too many'],
  ['('.repeat(200), 'more than 100 groups are nested'],
  ['x'.repeat(1025), 'it has more than 1024 characters'],
])('[N22.3] [N22] the expression %j is refused: %s', (expression, problem) => {
  expect(found(expression, 'a')).toEqual(expect.stringContaining(problem))
})

test('[S-57 expressionStates] at 4,096 states an expression is used, [S-57 expressionStates] past 4,096 it is refused', () => {
  // The repetition itself takes one state.
  expect(found('a{4095}', 'a'.repeat(4095))).toHaveLength(1)
  expect(found('a{4096}', 'a')).toBe('its repetitions are too many')
})

test('[N22.3] [N22] S-25: the work is proportional to the text, whatever the expression', () => {
  const text = `${'a'.repeat(20_000)}!`
  for (const expression of [
    '(a+)+b',
    '(a|a)*b',
    '((a*)*)*b',
    '(.*a)*b',
    `${'.*'.repeat(100)}b`,
    '(a?){500}a{500}b',
    '(a|b)*a(a|b){20}c',
  ]) {
    const compiled = lineFinder(expression)
    let pieces = 0
    if (!compiled.ok) throw new Error(compiled.problem)
    for (const _ of compiled.value(text, 10_000)) pieces++
    // A step of a small expression is in the table after the first few characters.
    expect([expression, pieces < (expression.length < 20 ? 100 : 20_000)]).toEqual([expression, true])
  }
})

test('[N22] S-25: an expression with very many sets of states forgets them, and still finds its matches', () => {
  let seed = 1
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) % 2
  const noise = Array.from({ length: 10_000 }, () => (random() === 0 ? 'a' : 'b')).join('')
  const expression = '^(a|b)*a(a|b){100}c$'
  expect(found(expression, `${noise}a${'b'.repeat(100)}c\n${noise}`)).toHaveLength(1)
})

test('[N22] an expression agrees with the platform, for arbitrary supported expressions and texts', () => {
  const atoms = 'a b B . [ab] [^a] [a-c_] \\w \\W \\d \\s \\S \\. é { } ]'.split(' ')
  const atom = fc.constantFrom(...atoms, ' ')
  const mark = fc.constantFrom('', '', '', '*', '+', '?', '*?', '{2}', '{1,3}', '{0,1}', '{2,}')
  const { expression } = fc.letrec<{ expression: string; piece: string }>((tie) => ({
    piece: fc.oneof(
      { maxDepth: 3 },
      fc.tuple(atom, mark).map((parts) => parts.join('')),
      fc.constantFrom('^', '$', '\\b', '\\B', '|'),
      fc.tuple(tie('expression'), mark).map(([inner, sign]) => `(${inner})${sign}`),
    ),
    expression: fc.array(tie('piece'), { maxLength: 5 }).map((parts) => parts.join('')),
  }))
  const line = fc.string({
    unit: fc.constantFrom('a', 'b', 'c', 'B', '_', '.', ' ', '1', 'é', 'É', '{'),
    maxLength: 8,
  })
  fc.assert(
    fc.property(
      expression,
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (source, lines, either) => {
        const flags = either ? 'i' : ''
        const platform = new RegExp(source, flags)
        const text = `${lines.join('\n')}\n`
        const expected = lines.flatMap((each, i) => (platform.test(each) ? [`${i + 1}:${each}`] : []))
        expect(found(source, text, either)).toEqual(expected)
        const whole = wholeMatcher(source)
        const wholly = new RegExp(`^(?:${source})$`)
        for (const each of lines) expect(whole.ok && whole.value(each)).toBe(wholly.test(each))
      },
    ),
  )
})
