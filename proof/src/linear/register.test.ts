import { expect, test } from 'vitest'
import { contradiction } from './register.ts'
import type { Operation } from './register.ts'

/** `write a 0 2`: from 0 to 2. Without an end it was never answered. */
const history = (...lines: readonly string[]) =>
  lines.map((line): Operation => {
    const [kind, value = '', from, to] = line.split(' ')
    return {
      kind: kind === 'write' ? 'write' : 'read',
      value,
      from: Number(from),
      to: to ? Number(to) : Infinity,
    }
  })

test.each([
  ['one after the other', ['write a 0 1', 'read a 2 3', 'write b 4 5', 'read b 6 7']],
  [
    'a read during a write sees the old value or the new one',
    ['write a 0 1', 'write b 2 9', 'read b 3 4', 'read b 5 6'],
  ],
  ['two writes at once in either order', ['write a 0 9', 'write b 0 9', 'read b 10 11']],
  ['a write without an answer takes effect late', ['write a 0', 'write b 1 2', 'read b 3 4', 'read a 5 6']],
  ['a write without an answer never takes effect', ['write a 0', 'write b 1 2', 'read b 3 4', 'read b 5 6']],
] as const)('[B7] %s: no contradiction', (_, lines) => {
  expect(contradiction(history(...lines))).toBeUndefined()
})

test.each([
  [
    'a read of what was replaced',
    ['write a 0 1', 'write b 2 3', 'read a 4 5'],
    'b was there and gone while a was there',
  ],
  ['a read from the future', ['read a 0 1', 'write a 2 3'], 'a was read before it was written'],
  [
    'a lost write',
    ['write a 0 1', 'read a 2 3', 'write b 4 5', 'read a 6 7'],
    'b was there and gone while a was there',
  ],
  [
    'two clients see two orders',
    ['write a 0 9', 'write b 0 9', 'read a 10 11', 'read b 12 13', 'read a 14 15'],
    'a was read after b had replaced it',
  ],
  [
    'the old value after the new one was seen',
    ['write a 0 1', 'write b 2 9', 'read b 3 4', 'read a 5 6'],
    'b was there and gone while a was there',
  ],
] as const)('[B7] %s is found', (_, lines, problem) => {
  expect(contradiction(history(...lines))).toBe(problem)
})

/** Whether the operations have an order that explains them, by trying all orders. */
function hasOrder(left: readonly Operation[], value?: string): boolean {
  if (left.every(({ to }) => to === Infinity)) return true
  const end = Math.min(...left.map(({ to }) => to))
  return left.some((next) => {
    if (next.from > end || (next.kind === 'read' && next.value !== value)) return false
    return hasOrder(
      left.filter((one) => one !== next),
      next.value,
    )
  })
}

test('[B7] small histories are judged as a search of all orders judges them', () => {
  let state = 1
  const below = (n: number) => (state = (state * 48_271) % 2_147_483_647) % n
  const verdicts = { fine: 0, wrong: 0 }
  for (let round = 0; round < 3000; round++) {
    const values = ['a', 'b', 'c'].slice(0, 2 + below(2))
    const spans = (kind: 'read' | 'write') => (value: string) => {
      const from = below(12) + below(100) / 100
      return { kind, value, from, to: kind === 'write' && below(5) === 0 ? Infinity : from + 0.5 + below(5) }
    }
    const reads = Array.from({ length: below(4) }, () => values[below(values.length)] ?? 'a')
    const all = [...values.map(spans('write')), ...reads.map(spans('read'))]
    const isFine = contradiction(all) === undefined
    expect({ all, isFine }).toEqual({ all, isFine: hasOrder(all) })
    verdicts[isFine ? 'fine' : 'wrong']++
  }
  expect(Math.min(verdicts.fine, verdicts.wrong)).toBeGreaterThan(300)
})
