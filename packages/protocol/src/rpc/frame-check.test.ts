import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientLimits, defaultLimits, hasLossyNumber, frameProblem } from './frame-check.ts'

const limits = { size: 1000, depth: 4, keys: 3 }

test.each([
  ['[[[[]]]]', undefined],
  ['[[[[[]]]]]', 'nested deeper than 4'],
  ['{"a":{"b":[{"c":1}]}}', undefined],
  ['{"a":1,"b":1,"c":1,"d":1}', 'more than 3 keys'],
  ['{"a":"{[{[{[{["}', undefined],
  ['{"a":"\\"}[[[[[[","b":"\\\\"}', undefined],
  ['["__proto__"]', undefined],
  ['{"__proto__":1}', '"__proto__" is not allowed'],
  ['{"__proto__" \n : 1}', '"__proto__" is not allowed'],
  ['{"\\u005f_proto__":1}', '"__proto__" is not allowed'],
  ['{"a":{"\\u005F\\u005fproto\\u005f_":1}}', '"__proto__" is not allowed'],
  ['{"__proto__\\u0000":1}', undefined],
  ['"'.padEnd(1001, 'x'), 'longer than 1000'],
  ['"unterminated', undefined],
])('[R2] [R2.1] S-18: %s', (text, problem) => {
  const found = frameProblem(text, limits)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(problem)
})

test.each(['{"__proto__":1}', '{"\\u005f_proto__":1}', '[{"a":{"_\\u005Fproto__":{}}}]'])(
  '[R2] [R2.1] S-18: %s is refused also by the fast check',
  (text) => expect(frameProblem(text, defaultLimits)).toContain('__proto__'),
)

test('[R2] [R2.1] S-18: four million levels of nesting are refused without recursion', () => {
  expect(frameProblem('['.repeat(4_000_000), defaultLimits)).toContain('nested deeper')
})

test('[R2] S-18: the counted depth and keys equal those of the parsed value', () => {
  const keysIn = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.values(value).reduce<number>(
          (sum, child) => sum + keysIn(child),
          Array.isArray(value) ? 0 : Object.keys(value).length,
        )
  const depthOf = (value: unknown): number =>
    typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf))
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const at = { size: 1e9, depth: depthOf(value), keys: keysIn(value) }
      const proto = text.includes('__proto__')
      fc.pre(!proto)
      expect(frameProblem(text, at)).toBeUndefined()
      if (at.depth > 0) expect(frameProblem(text, { ...at, depth: at.depth - 1 })).toContain('nested')
      if (at.keys > 0) expect(frameProblem(text, { ...at, keys: at.keys - 1 })).toContain('keys')
    }),
  )
})

test('[R2] S-18: the fast check accepts no message that the full check refuses', () => {
  // A Map stands for an object, so that `__proto__` can be one of its keys.
  type Tree = string | readonly Tree[] | ReadonlyMap<string, Tree>
  type Trees = { tree: Tree; list: Tree; object: Tree }
  const key = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('__proto__', '__proto_', '\\u', '{', '['))
  const { tree } = fc.letrec<Trees>((again) => ({
    tree: fc.oneof({ maxDepth: 5 }, fc.string({ maxLength: 4 }), again('list'), again('object')),
    list: fc.array(again('tree'), { maxLength: 3 }),
    object: fc.array(fc.tuple(key, again('tree')), { maxLength: 3 }).map((entries) => new Map(entries)),
  }))
  const write = (value: Tree): string => {
    if (typeof value === 'string') return JSON.stringify(value)
    if (!(value instanceof Map)) return `[${[...value.values()].map(write).join()}]`
    return `{${[...value].map(([name, child]) => `${JSON.stringify(name)}:${write(child)}`).join()}}`
  }
  const depthOf = (value: Tree): number => {
    if (typeof value === 'string') return 0
    return 1 + Math.max(0, ...[...value.values()].map(depthOf))
  }
  const hasProto = (value: Tree): boolean => {
    if (typeof value === 'string') return false
    if (value instanceof Map && value.has('__proto__')) return true
    return [...value.values()].some(hasProto)
  }
  fc.assert(
    fc.property(tree, fc.integer({ min: 1, max: 4 }), (value, depth) => {
      const refused = frameProblem(write(value), { size: 1e6, depth, keys: 1000 }) !== undefined
      expect(refused).toBe(depthOf(value) > depth || hasProto(value))
    }),
    { numRuns: 2000 },
  )
})

describe('[R2] S-57: the limits of a message', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`
  const keyed = (keys: number) => `{${'"":0,'.repeat(keys - 1)}"":0}`

  test('[S-57 messageBytes] at 4,194,304: the message is accepted', () =>
    expect(frameProblem(`"${'x'.repeat(4_194_302)}"`, defaultLimits)).toBeUndefined())
  test('[S-57 messageBytes] past 4,194,304: the message is refused', () =>
    expect(frameProblem(`"${'x'.repeat(4_194_303)}"`, defaultLimits)).toContain('longer than 4194304'))

  test('[S-57 depth] at 64: the message is accepted', () =>
    expect(frameProblem(nested(64), defaultLimits)).toBeUndefined())
  test.each([65, 5000, 1_000_000])('[S-57 depth] past 64: %d is refused', (depth) =>
    expect(frameProblem(nested(depth), defaultLimits)).toContain('nested deeper than 64'),
  )

  test('[S-57 keys] at 10,000: the message is accepted', () =>
    expect(frameProblem(keyed(10_000), defaultLimits)).toBeUndefined())
  test('[S-57 keys] past 10,000: the message is refused', () =>
    expect(frameProblem(keyed(10_001), defaultLimits)).toContain('more than 10000 keys'))

  const whole = 'x'.repeat(67_108_864)
  test('[R2.2] [S-57 answerLength] at 67,108,864: a client accepts the message', () =>
    expect(frameProblem(whole, clientLimits)).toBeUndefined())
  test('[S-57 answerLength] past 67,108,864: a client refuses the message', () =>
    expect(frameProblem(`${whole}x`, clientLimits)).toContain('longer than 67108864'))

  test('[R2.2] [S-57 answerDepth] at 128: a client accepts the message', () =>
    expect(frameProblem(nested(128), clientLimits)).toBeUndefined())
  test('[S-57 answerDepth] past 128: a client refuses the message', () =>
    expect(frameProblem(nested(129), clientLimits)).toContain('nested deeper than 128'))

  test('[S-57 answerKeys] at 10,000,000: a client accepts the message', () =>
    expect(frameProblem(keyed(10_000_000), clientLimits)).toBeUndefined())
  test('[S-57 answerKeys] past 10,000,000: a client refuses the message', () =>
    expect(frameProblem(keyed(10_000_001), clientLimits)).toContain('more than 10000000 keys'))
})

test.each([
  ['{"a":[1,{"b":1e999}]}', true],
  ['-1e999', true],
  [`1${'0'.repeat(309)}`, true],
  ['[[-0]]', true],
  ['{"a":-0.0}', true],
  ['{"a":-0e5}', true],
  ['{"a":"-0","b":"1e999","c":[0,-1,0.5,1e308,9007199254740993,null,true,{}]}', false],
])('[P3] S-19: %s has a number that JSON does not keep: %s', (text, lossy) => {
  const value: unknown = JSON.parse(text)
  expect(hasLossyNumber(value)).toBe(lossy)
  const again: unknown = JSON.parse(JSON.stringify(value))
  if (lossy) expect(again).not.toEqual(value)
  else expect(again).toEqual(value)
})
