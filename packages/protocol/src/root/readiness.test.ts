import { expect, test } from 'vitest'
import { withReadiness, readinessOf } from './readiness.ts'

const agent = { provider: 'x', displayName: 'X', description: '', models: [] }

test('[H14] the readiness of an agent is read as it was written', () => {
  expect(readinessOf(withReadiness(agent, 'ready'))).toEqual({ state: 'ready' })
  expect(readinessOf(withReadiness(agent, 'broken', 'It is gone.'))).toEqual({
    state: 'broken',
    problem: 'It is gone.',
  })
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
