import { expect, test } from 'vitest'
import { deepFreeze } from '../../test/cases.ts'
import { at, each, eachValue, inOrder, listOf, objectChange, omit, put, shapeOf, textOf } from './shape.ts'
import type { Shape } from './shape.ts'

const value: Shape = deepFreeze({ a: 1, list: [{ a: 1 }, null, { b: 2 }], text: 't', none: null })

test('[V5] a value of any shape can be read', () => {
  expect(shapeOf(value)).toBe(value)
  for (const strange of [null, undefined, 'x', 3, []]) expect(shapeOf(strange)).toEqual({})
  expect(listOf(value, 'list')).toBe(value['list'])
  expect(listOf(value, 'a')).toEqual([])
  expect([textOf(value, 'text'), textOf(value, 'a')]).toEqual(['t', undefined])
})

test('[V5] a change that changes nothing returns the same object', () => {
  const same = (item: Shape) => item
  expect(omit(value, 'b', 'c')).toBe(value)
  expect(put(value, { a: 1, gone: undefined })).toBe(value)
  expect(at(value, 'list', each(same))).toBe(value)
  expect(at(value, 'missing', () => 1)).toBe(value)
  expect(at(value, 'none', () => 1)).toBe(value)
  expect(eachValue(same)(value)).toBe(value)
  expect(inOrder(same, same)(value)).toBe(value)
  for (const strange of [null, 'x', 3]) {
    expect(each(same)(strange)).toBe(strange)
    expect(eachValue(same)(strange)).toBe(strange)
    expect(objectChange(same)(strange)).toBe(strange)
  }
})

test('[V5] a change keeps all other keys, and `undefined` removes', () => {
  expect(omit(value, 'list', 'none')).toEqual({ a: 1, text: 't' })
  expect(put(value, { a: 2, none: undefined, list: 3 })).toEqual({ a: 2, list: 3, text: 't' })
  expect(at(value, 'a', () => undefined)).toEqual(omit(value, 'a'))
  expect(each((item) => ('b' in item ? undefined : { ...item, c: 1 }))(value['list'])).toEqual([
    { a: 1, c: 1 },
    null,
  ])
  expect(eachValue((item) => omit(item, 'a'))({ x: { a: 1, b: 1 }, y: 'a' })).toEqual({ x: { b: 1 }, y: 'a' })
})
