import { expect, test } from 'vitest'
import { difference } from './difference.ts'

test.each([
  [{ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }, undefined],
  [{ a: { b: 1 } }, { a: { b: 2 } }, 'state.a.b is 1 instead of 2'],
  [{ a: [1] }, { a: [1, 2] }, 'state.a.1 is absent instead of 2'],
  [{ a: [] }, { a: {} }, 'state.a is [] instead of {}'],
  [{ a: null }, {}, 'state.a is null instead of absent'],
])('[B4] the first place where two states differ: %#', (own, expected, found) => {
  expect(difference(own, expected)).toBe(found)
})

test('[B4] a long value is shortened', () => {
  expect(difference('x'.repeat(300), 1)).toBe(`state is "${'x'.repeat(199)}… instead of 1`)
})
