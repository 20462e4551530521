import type { Action } from './channel.ts'
import { functionMap } from './function-map.ts'

export interface Reduce<S, A extends Action = Action> {
  (state: S, action: A): S
  (state: S, action: Action): S
}

/** The reducer of one action type. */
export type Case<S, A extends Action> = (state: S, action: A) => S

/** One case for every action type; a missing one is a compile error. */
export type Cases<S, A extends Action> = {
  readonly [T in A['type']]: Case<S, Extract<A, { readonly type: T }>>
}

/** Joins cases to a reducer, which returns the same state for an action without a case. */
export function reducer<S, A extends Action>(cases: Cases<S, A>): Reduce<S, A> {
  const byType = functionMap<Case<S, Action>>(cases)
  return (state: S, action: Action) => byType.get(action.type)?.(state, action) ?? state
}
