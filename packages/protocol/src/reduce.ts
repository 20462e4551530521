import type { Action } from './channel.ts'

export interface Reduce<S, A extends Action = Action> {
  (state: S, action: A): S
  (state: S, action: Action): S
}

/** What one action does to a state. */
export type Case<S, A extends Action> = (state: S, action: A) => S

/** A case for every action type: the compiler asks for the missing one. */
export type Cases<S, A extends Action> = {
  readonly [T in A['type']]: Case<S, Extract<A, { readonly type: T }>>
}

/** Types come from the wire, so they are looked up in a Map: `constructor` is as unknown as any other. */
export function reducer<S, A extends Action>(cases: Cases<S, A>): Reduce<S, A> {
  const byType = new Map(Object.entries(cases) as [string, Case<S, Action>][])
  return (state: S, action: Action) => byType.get(action.type)?.(state, action) ?? state
}
