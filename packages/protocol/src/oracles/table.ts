import type { Action } from '../channel.ts'
import { functionMap } from '../function-map.ts'
import type { KindName } from '../reducers.ts'

/**
 * The part of a version's reducer for one action type. `now` is the time of the peer that runs the reducer, in
 * milliseconds. Some versions write it into the state.
 */
export type Rule<S, A> = (state: S, action: A, now: number) => S

/** The rules of one kind of channel by action type. The value of a type that the version does not have is `undefined`. */
export type Rules = {
  readonly [type: string]: ((state: never, action: never, now: number) => object) | undefined
}

/** The rules of a version. A kind that the version does not have is `undefined`. */
export type VersionRules = { readonly [K in KindName]: Rules | undefined } & {
  readonly root: Rules
  readonly session: Rules
  readonly terminal: Rules
}

/** The reducer of a version. An action type that the version does not have changes nothing. */
export type OracleReducer = <S extends object>(state: S, action: Action, now: number) => S

export function oracleReducer(rules: Rules): OracleReducer {
  const byType = functionMap<Rule<object, Action> | undefined>(rules)
  return <S extends object>(state: S, action: Action, now: number) =>
    // A rule returns a state of the same version and kind as the state that it gets: hence the cast.
    (byType.get(action.type)?.(state, action, now) ?? state) as S
}

/** Marks action types that a version does not have. */
export function absent(...types: readonly string[]): Rules {
  return Object.fromEntries(types.map((type) => [type, undefined]))
}

/** Returns the rules of a conversation under the names that a channel gives them: `delta` becomes `chat/delta`. */
export function named(channel: 'session' | 'chat', rules: Rules): Rules {
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [`${channel}/${name}`, rule]))
}

/** A time in ISO form. Chats have always had this form, other states since 0.5. */
export function iso(now: number): string {
  return new Date(now).toISOString()
}
