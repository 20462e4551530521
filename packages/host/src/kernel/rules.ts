import type { Action, Uri } from '@atrium/protocol/channel'
import type { Method, Params } from '@atrium/protocol/commands'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel } from '../log/channel.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'
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

/**
 * The commands of AHP that a part runs. The caller has checked the params by the schema of the method. `name` is the channel's name as the
 * client wrote it.
 */
export type Methods = {
  readonly [M in Method]?: (core: Core, link: Link, params: Params<M>, name: Uri) => unknown
}

export type AnyMethod = (core: Core, link: Link, params: unknown, name: Uri) => unknown

export type AnyGuard = (action: Action, on: Guarded<KindName>) => string | undefined
export type AnyEffect = (core: Core, channel: Channel, action: Action) => void

/** What a part adds to the tables of a host. */
export interface RuleTables {
  readonly methods?: Methods
  /** Tables of guards and of effects (`Guards`, `Effects`), for one kind of channel each. */
  readonly guards?: readonly object[]
  readonly effects?: readonly object[]
}

/**
 * The tables of a host: commands by method, guards and effects by action type. They are maps, because methods and types come from
 * clients and may be `__proto__`. No two parts have an entry for the same name.
 */
export class Rules {
  readonly methods = new Map<string, AnyMethod>()
  readonly guards = new Map<string, AnyGuard>()
  readonly effects = new Map<string, AnyEffect>()

  add({ methods = {}, guards = [], effects = [] }: RuleTables): void {
    put(this.methods, methods)
    for (const table of guards) put(this.guards, table)
    for (const table of effects) put(this.effects, table)
  }
}

/** The type of the map cannot express that an entry fits its name, so the caller chooses the type of the entries. */
function put<R>(map: Map<string, R>, table: object): void {
  for (const [name, entry] of Object.entries(table) as [string, R][]) {
    if (map.has(name)) throw new Error(`two parts have ${name}`)
    map.set(name, entry)
  }
}
