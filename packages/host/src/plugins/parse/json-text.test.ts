import { textIn } from '@atrium/protocol/common/text'
import { limits } from '@atrium/protocol/limits'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonText } from './json-text.ts'

const read = (text: string, lenient = true) => new JsonText(text, lenient, limits)

const commented = `// what it is
{
  /* a , } */ "a": "// no comment, }",
  "b": {"x": 1, "y": [2, {"}": "]"},], },
  "b": {"x": "second"}, // again
}
`

test('[K2] comments and commas at the end are allowed in lenient formats only', () => {
  expect(read(commented).value).toEqual({ a: '// no comment, }', b: { x: 'second' } })
  expect(() => read(commented, false)).toThrow('It is not valid JSON.')
  expect(() => read('{"a": 1 /* no end')).toThrow('It is not valid JSON.')
})

test('[K6] the members of an object have their place in the file', () => {
  const json = read(commented)
  const members = json.members()
  expect(members.map(({ key }) => key)).toEqual(['a', 'b', 'b'])
  expect(members.map(({ range }) => textIn(commented, range))).toEqual([
    '"a": "// no comment, }"',
    '"b": {"x": 1, "y": [2, {"}": "]"},], }',
    '"b": {"x": "second"}',
  ])
  expect(json.members('b').map(({ value }) => value)).toEqual(['second'])
  expect([json.members('a'), json.members('c'), json.members('b', 'x')]).toEqual([[], [], []])
})

test.each([
  ['[1]', 'It is not a JSON object.'],
  ['"x"', 'It is not a JSON object.'],
  ['', 'It is not valid JSON.'],
  ['{"__proto__": 1}', 'The key "__proto__" is not allowed.'],
  [`{"a":${'['.repeat(65)}${']'.repeat(65)}}`, 'Its JSON is nested deeper than 64.'],
  [`{"a":${'['.repeat(200_000)}`, 'Its JSON is nested deeper than 64.'],
  [`{${'"a":1,'.repeat(10_001)}"b":1}`, 'Its JSON has more than 10000 keys.'],
])('[K7.2] [K7] a text of the wrong kind is refused (case %#)', (text, message) =>
  expect(() => read(text)).toThrow(message),
)

test('[K6] the members are those that JSON.parse finds, for arbitrary objects', () => {
  const key = fc.string().filter((each) => each !== '__proto__')
  const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }))
  fc.assert(
    fc.property(object, fc.constantFrom(0, 1, '\t'), (value, indent) => {
      const text = JSON.stringify({ inner: value }, null, indent)
      fc.pre(!text.includes('__proto__'))
      const json = read(text)
      const members = json.members('inner')
      expect(Object.fromEntries(members.map((each) => [each.key, each.value]))).toEqual(
        (JSON.parse(text) as { inner: object }).inner,
      )
      for (const { range, key: name } of members)
        expect(JSON.parse(`{${textIn(text, range)}}`)).toHaveProperty([name])
    }),
  )
})

test('[K7] the time for hostile comments, quotes and lines is proportional to their length', () => {
  for (const piece of ['/*', '//', '"\\', ',', '/', '\n', '{"a":1},\n', ', '])
    expect(() => read(`{${piece.repeat(400_000 / piece.length)}`)).toThrow()
})
