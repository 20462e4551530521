import { reducers } from '@atrium/protocol/reducers'
import type { Action } from '@atrium/protocol/channel'
import type { Reduce } from '@atrium/protocol/reduce'
import { canonical, sameJson } from './json.ts'

interface ReducerFixture {
  readonly reducer: string
  readonly initial: unknown
  readonly actions: readonly Action[]
  readonly expected: unknown
}

/** Reduces the initial state with the actions. Returns the problem with the result, if there is one. */
export function reducerProblem({ reducer, initial, actions, expected }: ReducerFixture): string | undefined {
  const reduce = new Map(Object.entries(reducers) as [string, Reduce<unknown>][]).get(reducer)
  if (!reduce) return `no reducer "${reducer}"`
  let state: unknown
  try {
    state = actions.reduce<unknown>((before, action) => reduce(before, action), initial)
  } catch (error) {
    return `threw ${String(error)}`
  }
  return sameJson(state, expected) ? undefined : `expected ${canonical(expected)}, got ${canonical(state)}`
}
