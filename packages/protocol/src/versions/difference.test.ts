import { expect, test } from 'vitest'
import { byDifference, same } from './difference.ts'
import type { Member } from './difference.ts'
import { ContextMissing, rebuild } from './lens.ts'

const member = (key: string): Member => ({
  read: (state, viewer) => (key === 'viewer' ? viewer : state[key]),
  set: (value) => (value === undefined ? rebuild : Object.assign({ type: key }, { value })),
})
const members = ['a', 'b', 'viewer'].map(member)
const lowered = (before: object, after: object) => byDifference(members, { viewer: 'me', before, after })

test('[V5] one action is made for each member that differs', () => {
  expect(lowered({ a: 1, b: [1] }, { a: 1, b: [1] })).toEqual([])
  expect(lowered({ a: 1 }, { a: 2, b: { c: 3 } })).toEqual([
    { type: 'a', value: 2 },
    { type: 'b', value: { c: 3 } },
  ])
  expect(lowered({ a: 1, b: 2 }, { a: 2 })).toBe(rebuild)
  expect(() => byDifference(members, undefined)).toThrow(ContextMissing)
})

test('[V5] two values are the same if their JSON is', () => {
  const value = { a: [1, { b: null }], c: 'x' }
  for (const equal of [structuredClone(value), { c: 'x', a: [1, { b: null }] }, { ...value, d: undefined }])
    expect(same(value, equal)).toBe(true)
  for (const other of [
    { ...value, a: [1] },
    { ...value, a: { 0: 1, 1: { b: null } } },
    { a: value.a },
    [value],
    null,
    'x',
  ]) {
    expect(same(value, other)).toBe(false)
    expect(same(other, value)).toBe(false)
  }
  expect(same([], {})).toBe(false)
})
