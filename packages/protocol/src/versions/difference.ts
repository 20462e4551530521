import type { Action } from '../channel.ts'
import { isJsonObject } from '../json.ts'
import { contextOf, rebuild } from './lens.ts'
import type { ActionContext, Lowered } from './lens.ts'
import { shapeOf } from './shape.ts'
import type { Shape } from './shape.ts'

/**
 * A part of a state that the older version replaces as a whole. `read` returns the part from a state of the newer version.
 * `set` returns the action that sets the part, or `rebuild` if the older version cannot set that value.
 */
export interface Member {
  read(state: Shape, viewer: string): unknown
  set(value: unknown): Action | typeof rebuild
}

/**
 * The older form of an action that changed some members: one action for each member whose older value differs. If the older
 * version has nothing of what changed, there is no action.
 */
export function byDifference(members: readonly Member[], context: ActionContext | undefined): Lowered {
  const { before, after, viewer } = contextOf(context)
  const actions = members.flatMap(({ read, set }) => {
    const value = read(shapeOf(after), viewer)
    return same(read(shapeOf(before), viewer), value) ? [] : [set(value)]
  })
  const possible = actions.filter((action) => action !== rebuild)
  return possible.length < actions.length ? rebuild : possible
}

/** Whether two JSON values are equal. The order of keys does not count, and a key with `undefined` counts as absent. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => same(a[key], b[key]))
}
