import type { Action } from '@atrium/protocol/channel'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel } from '../log/channel.ts'
import type { Core } from './core.ts'
import type { Dispatcher } from '../log/options.ts'

/** What a guard is given. `state` contains every appended action, committed or not. */
export interface Guarded<K extends KindName> {
  readonly state: StateOf<K>
  readonly by: Dispatcher
  readonly core: Core
  readonly channel: Channel<K>
}

/**
 * The guards of a kind of channel, by action type. A guard returns the reason why a client may not dispatch the
 * action, or undefined.
 */
export type Guards<K extends KindName> = {
  readonly [T in ActionOn<K>['type']]?: (
    action: Extract<ActionOn<K>, { readonly type: T }>,
    on: Guarded<K>,
  ) => string | undefined
}

/**
 * The effects of the actions of one channel kind, by action type. An effect is what the host does outside the state once the
 * action is committed, for example start an agent.
 */
export type Effects<K extends KindName> = {
  readonly [T in ActionOn<K>['type']]?: (
    core: Core,
    channel: Channel<K>,
    action: Extract<ActionOn<K>, { readonly type: T }>,
  ) => void
}

export type AnyGuard = (action: Action, on: Guarded<KindName>) => string | undefined
export type AnyEffect = (core: Core, channel: Channel, action: Action) => void

/** Merges tables by action type. The result is a Map, because action types come from clients and may be `__proto__`. */
export function ruleMap<R>(...tables: readonly object[]): ReadonlyMap<string, R> {
  // The caller chooses the type of the entries: tables of several kinds have no common type.
  return new Map(tables.flatMap((table) => Object.entries(table) as [string, R][]))
}
