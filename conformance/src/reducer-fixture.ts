import { oracle } from '@atrium/protocol/oracles'
import type { OracleReducer, OracleVersion } from '@atrium/protocol/oracles'
import type { Action } from '@atrium/protocol/channel'
import { canonical, differences } from './json.ts'

export interface ReducerFixture {
  readonly reducer: string
  readonly initial: object
  readonly actions: readonly Action[]
  readonly expected: unknown
}

/** The time that the published cases give to reducers which read a clock, in milliseconds. */
const now = 9999

export interface ReducerProblem {
  readonly text: string
  /** Where the result differs from the expected one, as JSON pointers; `throws` if the reducer throws. */
  readonly differs: readonly string[]
}

/** Reduces the initial state with the actions, as a version does. Returns the problem with the result, if there is one. */
export function reducerProblem(
  version: OracleVersion,
  { reducer, initial, actions, expected }: ReducerFixture,
): ReducerProblem | undefined {
  const reduce = new Map<string, OracleReducer>(Object.entries(oracle(version))).get(reducer)
  if (!reduce) return { text: `no reducer "${reducer}" at ${version}`, differs: [] }
  let state: unknown
  try {
    state = actions.reduce((before, action) => reduce(before, action, now), initial)
  } catch (error) {
    return { text: `threw ${String(error)}`, differs: ['throws'] }
  }
  const differs = differences(expected, state)
  if (differs.length === 0) return undefined
  return { text: `expected ${canonical(expected)}, got ${canonical(state)}`, differs }
}
