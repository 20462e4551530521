import fc from 'fast-check'
import { expect, test } from 'vitest'
import { template } from './template.ts'

test('[P9] [P9.3] a template expands to a URI and matches the URI back to the values', () => {
  const turn = template('ahp-changeset:/s1/turn/{turnId}')
  expect(turn?.variables).toEqual(['turnId'])
  expect(turn?.expand({ turnId: 'a b/ü' })).toBe('ahp-changeset:/s1/turn/a%20b%2F%C3%BC')
  expect(turn?.match('ahp-changeset:/s1/turn/a%20b%2F%C3%BC')).toEqual({ turnId: 'a b/ü' })
  expect(turn?.match('ahp-changeset:/s2/turn/x')).toBeUndefined()
  expect(turn?.match('ahp-changeset:/s1/turn/x/y')).toBeUndefined()
  expect(turn?.expand({})).toBeUndefined()
  expect(turn?.expand({ turnId: '\ud800' })).toBeUndefined()
})

test.each(['x:/{a}/{b}', 'x:/{a}../{b}/end', '{a}-/-{b}s', 'x:/{a}s', 'x:/{a}/{a}'])(
  '[P9] every expansion of %s matches back to the same values',
  (text) => {
    const made = template(text)
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ minLength: 1 }), (a, b) => {
        const values = made?.variables.includes('b') ? { a, b } : { a }
        const uri = made?.expand(values)
        if (uri === undefined) throw new Error('not expanded')
        expect(made?.match(uri)).toEqual(values)
      }),
    )
  },
)

test('[P9] no match: a separator that a value could contain, or two values for one name', () => {
  expect(template('{a}-{b}')?.match('1-2')).toBeUndefined()
  expect(template('x:/{a}/{a}')?.match('x:/1/2')).toBeUndefined()
  expect(template('x:/{a}')?.expand({ a: '' })).toBeUndefined()
})

test.each([
  '{',
  '}',
  'a{b',
  'a}b',
  '{a}{b}',
  '{a*}',
  '{?q}',
  '{}',
  'x{a}y}',
  '{__proto__}',
  '{a b}',
  '{a{b}}',
])('[P9] [P9.3] %j is not a valid template', (text) => expect(template(text)).toBeUndefined())

test('[P9] S-25: hostile templates and URIs take linear time', () => {
  expect(template('{a},'.repeat(50_000))?.match(`${'x,'.repeat(50_000)}!`)).toBeUndefined()
  expect(template('{'.repeat(200_000))).toBeUndefined()
})
