import { expect, test } from 'vitest'
import { markdownFile } from './frontmatter.ts'

const read = (lines: readonly string[]) => markdownFile(['---', ...lines, '---', 'Body'].join('\n'), 8192)
const text = (...lines: readonly string[]) => read(lines).fields.text('k')
const list = (...lines: readonly string[]) => read(lines).fields.list('k')

test.each([
  ['k: plain text', 'plain text'],
  ['k:   padded   ', 'padded'],
  ['k: with: a colon', 'with: a colon'],
  ['k: with a # comment', 'with a'],
  ['k: no#comment', 'no#comment'],
  ['k: "quoted # \\"text\\" \\u0041\\x42\\n"', 'quoted # "text" AB\n'],
  ["k: 'it''s'  # why", "it's"],
  ['"k": x', 'x'],
  ['k: 12', '12'],
  ['k: true', 'true'],
  ['k: *.ts', '*.ts'],
  ['k: null', undefined],
  ['k: ~', undefined],
  ['k:', undefined],
  ['k: ""', undefined],
  ['other: x', undefined],
])('[K4] the text in %j is %j', (line, expected) => expect(text(line)).toBe(expected))

test('[K4.4] [K4] texts of several lines', () => {
  expect(text('k: one', '  two', '  three', 'n: x')).toBe('one two three')
  expect(text('k:', '  one', '  two')).toBe('one two')
  expect(text('k: |', '  one', '   two', '', '  three', '')).toBe('one\n two\n\nthree')
  expect(text('k: >-', '  one', '  two', '', '  three')).toBe('one two\nthree')
  expect(text('k: "one', '  two"')).toBe('one two')
})

test('[K4.4] [K4] lists in each form', () => {
  expect(list('k: [a, "b, c", \'d\', *.{x,y}] # why')).toEqual(['a', 'b, c', 'd', '*.{x,y}'])
  expect(list('k: [a,', '  b]')).toEqual(['a', 'b'])
  expect(list('k:', '  - a', '  # why', '  - "b: c"', '  - long', '    er')).toEqual(['a', 'b: c', 'long er'])
  expect(list('k:', '- a', '- b', 'n: x')).toEqual(['a', 'b'])
  expect(list('k: a, b,*.{x,y}')).toEqual(['a', 'b', '*.{x,y}'])
  expect(list('k: []')).toEqual([])
})

test('[K4.4] [K4] booleans', () => {
  const flag = (value: string) => read([`k: ${value}`]).fields.flag('k')
  expect(['true', 'FALSE', ''].map(flag)).toEqual([true, false, undefined])
  for (const value of ['yes', '1', '[true]'])
    expect(() => flag(value)).toThrow('The field k must be true or false.')
})

test.each([
  ['k: {a: b}', 'The field k is a map, which is not understood.'],
  ['k:\n  a: b', 'The field k is a map, which is not understood.'],
  ['k:\n  - a: b', 'The field k is a list of lists or maps, which is not understood.'],
  ['k: [[a]]', 'The field k is a list of lists or maps, which is not understood.'],
  ['k: [a', 'The field k is a list without an end, which is not understood.'],
  ['k: "a', 'The field k is a text with a wrong quote, which is not understood.'],
  ['k: "a" b', 'The field k is a text with a wrong quote, which is not understood.'],
  ['k: "\\q"', 'The field k is a text with a wrong quote, which is not understood.'],
  ['k: &anchor a', 'The field k is a value with a special sign, which is not understood.'],
  ['k: !!binary a', 'The field k is a value with a special sign, which is not understood.'],
  ['k: [a]', 'The field k must be a text, and is a list.'],
  ['k: a\nk: b', 'The field k stands twice in its frontmatter.'],
  ['k: a\nno field', 'Line 3 of its frontmatter is not understood.'],
  ['  k: a', 'Line 2 of its frontmatter is not understood.'],
])('[K4.4] [K4] %j is an error with a sentence', (lines, message) =>
  expect(() => text(lines)).toThrow(message),
)

test('[K4.4] [K4] a field that nobody reads may have any shape', () => {
  expect(text('metadata:', '  author: x', '  tags: [a]', 'k: v')).toBe('v')
})

test('[K4] a file without a frontmatter, with an empty one, with CRLF, and with one that does not end', () => {
  const plain = '# Title\n---\nk: v\n---\n'
  expect(markdownFile(plain, 100).body).toBe(plain)
  expect(markdownFile('---\n---\nBody', 100).body).toBe('Body')
  const windows = markdownFile('---\r\nk: v\r\n---\r\n\r\nBody', 100)
  expect([windows.fields.text('k'), windows.body]).toEqual(['v', 'Body'])
  expect(() => markdownFile('---\nk: v\n', 100)).toThrow('Its frontmatter has no end')
})

test('[S-57 frontmatterLength] at 8,192 characters it is read', () => expect(long(8192)).toBe('v'))
test('[S-57 frontmatterLength] past 8,192 it is refused', () =>
  expect(() => long(8193)).toThrow('Its frontmatter is longer than 8192 characters.'))

function long(length: number): string | undefined {
  const [start, end] = ['---\nk: v\n#', '\n---\n']
  return markdownFile(start + 'x'.repeat(length - start.length - end.length) + end, 8192).fields.text('k')
}
