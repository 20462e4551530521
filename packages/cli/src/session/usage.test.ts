import type { Turn } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { noUsage, plus, usageLine, usageOfTurns } from './usage.ts'

const turn = (usage: Turn['usage']): Turn => ({
  id: 't',
  message: { text: '', origin: { kind: 'user' } },
  responseParts: [],
  state: 'complete',
  ...(usage && { usage }),
})
const soFar = (amount: unknown, currency: unknown = 'EUR') =>
  turn({ _meta: { 'x-atrium.context': { used: 1, size: 2, cost: { amount, currency } } } })
const costs = (...turns: readonly Turn[]) => usageOfTurns(turns).map(({ cost }) => cost)

test('[Z41] the tokens of turns are added, also of turns without a usage', () => {
  const used = usageOfTurns([
    turn({ inputTokens: 1, outputTokens: 2 }),
    turn(undefined),
    turn({ cacheReadTokens: 3 }),
  ])
  const cost = {}
  expect(used.reduce(plus, noUsage)).toEqual({
    turns: 3,
    inputTokens: 1,
    outputTokens: 2,
    cacheReadTokens: 3,
    cost,
  })
})

test('[Z41.1] an agent that reports the sum of its session costs the difference, and all of it after a restart', () => {
  expect(costs(soFar(1), soFar(1.5), turn(undefined), soFar(1.5), soFar(0.25))).toEqual([
    { EUR: 1 },
    { EUR: 0.5 },
    {},
    {},
    { EUR: 0.25 },
  ])
})

test('[Z41] costs of several currencies are kept apart, and other values count as none', () => {
  const dollars = turn({ _meta: { 'x-atrium': { cost: 2 } } })
  expect(costs(dollars, dollars, soFar('1'), soFar(1, 2), turn({ _meta: { 'x-atrium': 3 } }))).toEqual([
    { USD: 2 },
    { USD: 2 },
    {},
    {},
    {},
  ])
  const all = usageOfTurns([dollars, soFar(1), dollars]).reduce(plus, noUsage)
  expect(all.cost).toEqual({ USD: 4, EUR: 1 })
})

test.each([
  [
    { inputTokens: 12_345, outputTokens: 6, cacheReadTokens: 1000 },
    0.0123,
    '12,345 tokens in (1,000 cached), 6 out, 0.0123 USD',
  ],
  [{ inputTokens: 1, outputTokens: 2 }, 1.5, '1 tokens in, 2 out, 1.50 USD'],
  [{ inputTokens: 1, outputTokens: 2 }, 0, '1 tokens in, 2 out, 0.00 USD'],
  // Nobody knows the price.
  [{ inputTokens: 1, outputTokens: 2 }, undefined, '1 tokens in, 2 out'],
  [{ inputTokens: 1 }, -1, '1 tokens in, 0 out'],
  [{ inputTokens: 1 }, '5', '1 tokens in, 0 out'],
  [{ inputTokens: 1 }, Number.NaN, '1 tokens in, 0 out'],
])('[Z43] the usage %j with the cost %j is shown as %j', (usage, cost, line) => {
  expect(usageLine({ usage: { ...usage, _meta: { 'x-atrium': { context: 1, cost } } } })).toBe(line)
})

test('[Z43] turns of other agents have no such line', () => {
  for (const usage of [undefined, {}, { inputTokens: 1 }, { _meta: { 'x-atrium': null } }, soFar(1).usage])
    expect(usageLine(usage ? { usage } : {})).toBeUndefined()
})
