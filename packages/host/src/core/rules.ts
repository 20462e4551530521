import type { Action } from '@atrium/protocol/channel'
import type { Channel } from '../log/channel.ts'
import type { Core } from './core.ts'
import type { Dispatcher } from '../log/options.ts'

/** May a client say this now? A reason why not, or nothing. The state is the one after everything appended. */
export type Guards<S, A extends Action> = {
  readonly [T in A['type']]?: (
    state: S,
    action: Extract<A, { readonly type: T }>,
    by: Dispatcher,
    core: Core,
    channel: Channel,
  ) => string | undefined
}

/** What the host does once it has been said and kept. */
export type Effects<A extends Action> = {
  readonly [T in A['type']]?: (core: Core, channel: Channel, action: Extract<A, { readonly type: T }>) => void
}

export type AnyGuard = (
  state: unknown,
  action: Action,
  by: Dispatcher,
  core: Core,
  channel: Channel,
) => string | undefined
export type AnyEffect = (core: Core, channel: Channel, action: Action) => void

/** Tables by type, looked up in a Map because types come from the wire. */
export function ruleMap<R>(...tables: readonly object[]): ReadonlyMap<string, R> {
  return new Map(tables.flatMap((table) => Object.entries(table) as [string, R][]))
}
