import { expect, test } from 'vitest'
import { withReadiness, readinessOf } from './readiness.ts'

const agent = { provider: 'x', displayName: 'X', description: '', models: [] }

test('[H14] the readiness of an agent is read as it was written', () => {
  const broken = { state: 'broken', problem: 'It is gone.' } as const
  for (const readiness of [{ state: 'ready', fallback: true } as const, broken])
    expect(readinessOf(withReadiness(agent, readiness))).toEqual(readiness)
})

test.each([
  [undefined],
  [{}],
  [{ 'x-atrium': 'ready' }],
  [{ 'x-atrium': { state: 'well' } }],
  [{ 'x-atrium': { problem: 1 } }],
])('[H14] an agent with the meta %j does not tell its readiness', (_meta) => {
  expect(readinessOf({ ...agent, ...(_meta && { _meta }) })).toBeUndefined()
})
