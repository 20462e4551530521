import { expect, test } from 'vitest'
import { styled } from '../terminal/output.ts'
import { Markdown } from './markdown.ts'
import { widthOf } from './table.ts'

const text = [
  '# A heading with `code` and **bold**',
  '',
  'Plain text, **bold text that goes on** and `code with ** stars`, 2 ** 3, a*b and an open `tick',
  'and ``a `quoted` tick`` here. A very long word: ' + 'x'.repeat(70) + ' end.',
  '- one item that is rather long and goes on below the place where it began, not at the edge',
  '  1. inner',
  '10) ten',
  '* star',
  '> quoted',
  '| a | table | that is wider than the forty columns of this terminal |',
  '```js',
  '# no heading, **no bold**',
  'a line of code that is longer than the forty columns of this terminal 😀',
  '~~~',
  '```',
  '漢字はスペースなしで続くので、どこでも改行できるはずです。そして、また続く。',
  '👩‍👩‍👧 a family, e\u0301 combined, \u001b[31mno colours of yours\u0007',
  '---',
  '#hash',
  'last line without an end *',
].join('\n')

const options = (colour: boolean, columns?: number) => ({
  style: styled(colour),
  colour,
  ...(columns !== undefined && { columns: () => columns }),
})

function rendered(pieces: readonly string[], colour: boolean, columns?: number): string {
  const markdown = new Markdown(options(colour, columns))
  return pieces.map((piece) => markdown.feed(piece)).join('') + markdown.end()
}

test.each([
  [true, 40],
  [false, 40],
  [true, undefined],
  [false, undefined],
])(
  '[Z9.1] the output is the same for every split of the input (colours: %s, columns: %s)',
  (colour, columns) => {
    const whole = rendered([text], colour, columns)
    for (let at = 0; at <= text.length; at++)
      expect(rendered([text.slice(0, at), text.slice(at)], colour, columns)).toBe(whole)
    expect(rendered(text.split(''), colour, columns)).toBe(whole)
  },
)

test('[Z9.4] without colours and columns the output is the sanitized text', () => {
  // oxlint-disable-next-line no-control-regex
  expect(rendered([text], false)).toBe(text.replace(/[\u001b\u0007]/g, '\ufffd'))
})

test('[Z9] no line but code and tables is wider than the terminal, and no word is lost', () => {
  const out = rendered([text], false, 40)
  const free = out.split('\n').filter((line) => !/line of code|table/.test(line))
  expect(Math.max(...free.map(widthOf))).toBeLessThanOrEqual(40)
  expect(out.replaceAll(/\s+/g, '')).toBe(
    // oxlint-disable-next-line no-control-regex
    text.replace(/[\u001b\u0007]/g, '\ufffd').replaceAll(/\s+/g, ''),
  )
})

test('[Z9] headings, lists, code and bold text have styles instead of marks', () => {
  const shown = (given: string) => rendered([given], true, 60)
  expect(shown('# Title')).toBe('\u001b[1mTitle\u001b[22m')
  expect(shown('a **b** c')).toBe('a \u001b[1mb\u001b[22m c')
  expect(shown('`x y`')).toBe('\u001b[36mx y\u001b[39m')
  expect(shown('- a\n1. b')).toBe('\u001b[36m•\u001b[39m a\n1. b')
  expect(shown('2 ** 3 and 2**3')).toBe('2 ** 3 and 2**3')
  expect(shown('```js\n**a**\n```\nb')).toBe(
    '\u001b[2m```js\u001b[22m\n\u001b[36m**a**\u001b[39m\n\u001b[2m```\u001b[22m\nb',
  )
})

test('[Z9] an unmatched mark colours its own line only', () => {
  expect(rendered(['a **b\nc `d\ne'], true)).toBe('a \u001b[1mb\u001b[22m\nc \u001b[36md\u001b[39m\ne')
})

test('[Z9] continued lines of a list item are indented', () => {
  expect(rendered(['- one two three four'], false, 10)).toBe('- one two\n  three\n  four')
})

test('[Z9] each word is printed as soon as it is complete', () => {
  const markdown = new Markdown(options(true, 40))
  expect(['Hel', 'lo wor', 'ld **no', 'w**'].map((piece) => markdown.feed(piece))).toEqual([
    '',
    'Hello',
    ' world',
    '',
  ])
  expect(markdown.end()).toBe(' \u001b[1mnow\u001b[22m')
})
