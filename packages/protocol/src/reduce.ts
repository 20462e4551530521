import type { Action } from './channel.ts'

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

/** Joins cases to a reducer. A Map holds them, because types come from the wire and one may be `constructor`. */
export function reducer<S, A extends Action>(cases: Cases<S, A>): Reduce<S, A> {
  // Each case takes only the actions of its own type, and the look-up by `type` gives it no others.
  const byType = new Map(Object.entries(cases) as [string, Case<S, Action>][])
  return (state: S, action: Action) => byType.get(action.type)?.(state, action) ?? state
}
