import type { Action } from '../channel.ts'
import { functionMap } from '../function-map.ts'
import { isJsonObject } from '../json.ts'
import type { KindName } from '../reducers.ts'
import { knownIn, knows } from './known.ts'
import { together } from './lens.ts'
import type { ActionContext, Lens, LiftContext, Lowered, Refusal, StateContext } from './lens.ts'
import type { Version } from './negotiate.ts'
import { shapeOfAction } from './shape.ts'
import type { OldAction, Shape } from './shape.ts'

/**
 * Translates an action to the older version. Most rows do not read the context, so that they also work in a replay,
 * which has no context.
 */
export type Row = (action: OldAction, context?: ActionContext) => Lowered

/** Translates an action to the newer version. */
export type LiftRow = (action: OldAction, context: LiftContext) => Action | Refusal

/** Translates all actions of one change together to the older version. */
export type ChangeRow = (actions: readonly Action[], context?: ActionContext) => Lowered

/** What differs between two neighbouring versions. Everything that no row names is the same in both. */
export interface StepTable {
  readonly version: Version
  readonly newer: Version
  readonly states?: { readonly [K in KindName]?: (state: Shape, context?: StateContext) => object }
  readonly actions?: { readonly [type: string]: Row }
  /** The kinds of channels whose changes are translated as a whole. Their actions have no rows. */
  readonly changes?: { readonly [K in KindName]?: ChangeRow }
  readonly actionsUp?: { readonly [type: string]: LiftRow }
  readonly params?: { readonly [method: string]: (params: Shape) => object }
  readonly results?: { readonly [method: string]: (result: Shape) => unknown }
  /**
   * Functions that translate the params of notifications to the older version. They return `undefined` if nothing of
   * the params exists there.
   */
  readonly notifications?: { readonly [method: string]: (params: Shape) => Shape | undefined }
}

/** Returns a row that makes exactly one action of the same type. */
export function one(change: (action: Shape) => Shape): Row {
  // The change leaves the type as it is: hence the cast.
  return (action) => [change(action) as OldAction]
}

/** The lens of one step. Actions that the older version does not have become no action, unless a row translates them. */
export function step(table: StepTable): Lens {
  const { version, newer } = table
  const stateOf = functionMap<(state: object, context?: StateContext) => object>(table.states ?? {})
  const added = [...knownIn(newer)].filter((name) => !knows(version, name))
  const rowOf = new Map<string, Row>([
    ...added.map((name) => [name, () => []] as const),
    ...functionMap<Row>(table.actions ?? {}),
  ])
  const changeOf = functionMap<ChangeRow>(table.changes ?? {})
  const liftOf = functionMap<LiftRow>(table.actionsUp ?? {})
  const paramsOf = functionMap<(params: object) => object>(table.params ?? {})
  const resultOf = functionMap<(result: object) => unknown>(table.results ?? {})
  const notificationOf = functionMap<(params: object) => object | undefined>(table.notifications ?? {})
  const actionDown = (kind: KindName, action: Action, context?: ActionContext): Lowered => {
    const change = changeOf.get(kind)
    if (change) return change([action], context)
    const row = rowOf.get(action.type)
    return row ? row(shapeOfAction(action), context) : [action]
  }
  return {
    version,
    stateDown: (kind, state, context) => {
      const row = stateOf.get(kind)
      if (row) return row(state, context)
      return hasKind(version, kind) ? state : noState
    },
    actionDown,
    ...(table.changes && {
      actionsDown: (kind: KindName, actions: readonly Action[], context?: ActionContext) =>
        changeOf.get(kind)?.(actions, context) ??
        together(actions.map((action) => actionDown(kind, action, context))),
    }),
    leaves: (type) => !rowOf.has(type),
    actionUp: (_, action, context) => liftOf.get(action.type)?.(shapeOfAction(action), context) ?? action,
    knows: (method) => knows(version, method),
    paramsUp: (method, params) => paramsOf.get(method)?.(params) ?? params,
    resultDown: (method, result) =>
      isJsonObject(result) ? (resultOf.get(method)?.(result) ?? result) : result,
    notificationDown: (method, params) => {
      const row = notificationOf.get(method)
      return row ? row(params) : params
    },
  }
}

/**
 * The state of a channel whose kind the older version does not have. Clients of that version cannot subscribe to it.
 */
const noState = Object.freeze({})

/** Whether a version has channels of a kind: it knows an action of that kind. Up to 0.3 a chat is a part of its session. */
export function hasKind(version: Version, kind: KindName): boolean {
  return kindsOf(version).has(kind)
}

const kindsByVersion = new Map<Version, ReadonlySet<string>>()

function kindsOf(version: Version): ReadonlySet<string> {
  const known = kindsByVersion.get(version)
  if (known) return known
  const kinds = new Set([...knownIn(version)].map((name) => name.split('/')[0] ?? ''))
  kindsByVersion.set(version, kinds)
  return kinds
}

/** Returns `undefined` if the translation removed all `changes` of a notification. Changes that were empty before are kept. */
export function unlessEmptied(before: Shape, after: Shape): Shape | undefined {
  const { changes } = after
  return after !== before && isJsonObject(changes) && Object.keys(changes).length === 0 ? undefined : after
}
