import type { Action, Uri } from '@atrium/protocol/channel'
import type { AhpError } from '@atrium/protocol/errors'
import type { Method, Params } from '@atrium/protocol/commands'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel } from './log/channel.ts'
import type { Entry } from './log/entry.ts'
import type { Core } from './core.ts'
import { noDispatchRules, withRules } from './dispatch-rules.ts'
import type { DispatchLists } from './dispatch-rules.ts'
import type { Generation } from './generation.ts'
import type { Subscriber } from './link.ts'
import type { OlderCall } from './open-parts.ts'
import type { Needed } from './role-check.ts'
import type { StatelessChannel } from './stateless.ts'
import type { Dispatcher } from './log/options.ts'

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
 * What follows from a strict action, by the kind of its channel: further actions, and records beside the log. Both are stored in the same
 * transaction as the action.
 */
export type FollowUps = {
  readonly [K in KindName]?: (
    core: Core,
    channel: Channel<K>,
    action: ActionOn<K>,
    by: Dispatcher | undefined,
  ) => void
}

/** What the host does after the effect of a committed action, by the kind of its channel. */
export type CommitHooks = {
  readonly [K in KindName]?: (core: Core, channel: Channel<K>, entry: Entry) => void
}

type SubscriptionHooks = { readonly [K in KindName]?: (core: Core, channel: Channel<K>) => void }

/**
 * The commands of AHP that a part runs. The caller has checked the params by the schema of the method. `name` is the channel's name as the
 * client wrote it.
 */
export type Methods = {
  readonly [M in Method]?: (core: Core, link: Subscriber, params: Params<M>, name: Uri) => unknown
}

export type AnyMethod = (core: Core, link: Subscriber, params: unknown, name: Uri) => unknown

export type AnyGuard = (action: Action, on: Guarded<KindName>) => string | undefined
export type AnyEffect = (core: Core, channel: Channel, action: Action) => void
type AnyFollowUp = (core: Core, channel: Channel, action: Action, by: Dispatcher | undefined) => void
type AnySubscriptionHook = (core: Core, channel: Channel) => void
type AnyCommitHook = (core: Core, channel: Channel, entry: Entry) => void

/** A request in an older protocol version. */
export interface OlderRequest extends OlderCall {
  readonly core: Core
}

/** A method that does something else in older versions than in the newest one, and not only in other names and shapes. */
export interface OlderMethod {
  readonly method: Method
  /** The versions that have it. Of several methods that fit, the first one counts. */
  readonly has: (generation: Generation) => boolean
  readonly run: (request: OlderRequest) => unknown
}

/**
 * Finds the stateless channel of a URI. Returns an error if the URI has the form of such a channel and there is none, and undefined if
 * it has another form.
 */
type FindStateless = (core: Core, uri: Uri) => StatelessChannel | AhpError | undefined

/** What a part adds to the tables of a host. */
export interface RuleTables extends Partial<DispatchLists<Core>> {
  readonly methods?: Methods
  /** Tables of guards and of effects (`Guards`, `Effects`), for one kind of channel each. */
  readonly guards?: readonly object[]
  readonly effects?: readonly object[]
  readonly followUps?: FollowUps
  readonly committed?: CommitHooks
  /** Called when a client has subscribed to a channel of the kind. */
  readonly subscribed?: SubscriptionHooks
  readonly older?: readonly OlderMethod[]
  readonly stateless?: FindStateless
  /** The members that the result of `initialize` has. */
  readonly offers?: (core: Core) => object
  /** What a client that asks for it is told of the state of the host. */
  readonly reports?: (core: Core) => object
  /** The roles that commands of AHP and actions need. */
  readonly roles?: { readonly [name: string]: Needed<never> }
}

/**
 * The tables of a host: commands by method, guards and effects by action type, the rest by kind of channel. They are maps, because methods and types come from
 * clients and may be `__proto__`. No two parts have an entry for the same name.
 */
export class Rules {
  readonly methods = new Map<string, AnyMethod>()
  readonly guards = new Map<string, AnyGuard>()
  readonly effects = new Map<string, AnyEffect>()
  readonly followUps = new Map<string, AnyFollowUp>()
  readonly committed = new Map<string, AnyCommitHook>()
  readonly roles = new Map<string, Needed<never>>()
  readonly subscribed = new Map<string, AnySubscriptionHook>()
  readonly older: OlderMethod[] = []
  readonly stateless: FindStateless[] = []
  readonly offers: ((core: Core) => object)[] = []
  readonly reports: ((core: Core) => object)[] = []
  dispatch: DispatchLists<Core> = noDispatchRules

  add(tables: RuleTables): void {
    const { methods = {}, guards = [], effects = [], followUps = {}, committed = {}, roles = {} } = tables
    this.dispatch = withRules(this.dispatch, tables)
    put(this.methods, methods)
    put(this.roles, roles)
    put(this.subscribed, tables.subscribed ?? {})
    this.older.push(...(tables.older ?? []))
    if (tables.stateless) this.stateless.push(tables.stateless)
    if (tables.offers) this.offers.push(tables.offers)
    if (tables.reports) this.reports.push(tables.reports)
    for (const table of guards) put(this.guards, table)
    for (const table of effects) put(this.effects, table)
    put(this.followUps, followUps)
    put(this.committed, committed)
  }
}

/** The type of the map cannot express that an entry fits its name, so the caller chooses the type of the entries. */
function put<R>(map: Map<string, R>, table: object): void {
  for (const [name, entry] of Object.entries(table) as [string, R][]) {
    if (map.has(name)) throw new Error(`two parts have ${name}`)
    map.set(name, entry)
  }
}
