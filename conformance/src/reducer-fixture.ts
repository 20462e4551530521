import { oracle } from '@atrium/protocol/oracles'
import type { OracleReducer, OracleVersion } from '@atrium/protocol/oracles'
import type { Action } from '@atrium/protocol/channel'
import { canonical, sameJson } from './json.ts'

export interface ReducerFixture {
  readonly reducer: string
  readonly initial: object
  readonly actions: readonly Action[]
  readonly expected: unknown
}

/** The time that the published cases give to reducers which read a clock, in milliseconds. */
const now = 9999

/** Reduces the initial state with the actions, as a version does. Returns the problem with the result, if there is one. */
export function reducerProblem(
  version: OracleVersion,
  { reducer, initial, actions, expected }: ReducerFixture,
): string | undefined {
  const reduce = new Map<string, OracleReducer>(Object.entries(oracle(version))).get(reducer)
  if (!reduce) return `no reducer "${reducer}" at ${version}`
  let state: unknown
  try {
    state = actions.reduce((before, action) => reduce(before, action, now), initial)
  } catch (error) {
    return `threw ${String(error)}`
  }
  return sameJson(state, expected) ? undefined : `expected ${canonical(expected)}, got ${canonical(state)}`
}
