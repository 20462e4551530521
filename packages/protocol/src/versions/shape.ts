import { isJsonObject } from '../json.ts'

/**
 * A JSON object of an older version. Only the newest version has types; the lenses of older versions read the keys that
 * they change, and return everything else as it is. A value that needs no change is returned as the same object.
 */
export type Shape = Readonly<Record<string, unknown>>

const empty: Shape = Object.freeze({})

/** The value as an object. Anything else is an object without keys, because a lens must not fail on a strange value. */
export function shapeOf(value: unknown): Shape {
  return isJsonObject(value) ? value : empty
}

/** The list at a key, or an empty list. */
export function listOf(value: Shape, key: string): readonly unknown[] {
  const list = value[key]
  return Array.isArray(list) ? list : []
}

/** The text at a key, or `undefined`. */
export function textOf(value: Shape, key: string): string | undefined {
  const text = value[key]
  return typeof text === 'string' ? text : undefined
}

/** Removes keys. Returns the same object if it has none of them. */
export function omit<S extends Shape>(value: S, ...keys: readonly string[]): S {
  if (!keys.some((key) => key in value)) return value
  const left: Record<string, unknown> = { ...value }
  for (const key of keys) delete left[key]
  // The object keeps all other keys of `S`; the removed ones are keys that the older version does not have: hence the
  // cast.
  return left as S
}

/** Sets keys; `undefined` removes a key. Returns the same object if nothing changes. */
export function put<S extends Shape>(value: S, changes: Shape): S {
  const keys = Object.keys(changes)
  if (keys.every((key) => value[key] === changes[key] && key in value === (changes[key] !== undefined)))
    return value
  const next: Record<string, unknown> = { ...value, ...changes }
  for (const key of keys) if (changes[key] === undefined) delete next[key]
  // As in `omit`, only the named keys differ from `S`: hence the cast.
  return next as S
}

/** Changes the value at a key, if the key is there. `undefined` as the new value removes the key. */
export function at<S extends Shape>(value: S, key: string, change: (inner: unknown) => unknown): S {
  const inner = value[key]
  return inner === undefined || inner === null ? value : put(value, { [key]: change(inner) })
}

/** A change of an object that may also remove it from its list (`undefined`). */
export type Change = (item: Shape) => Shape | undefined

/**
 * Returns a function that applies `change` to each object of a list. Items that are no objects stay. The function
 * returns the same list if no item changed.
 */
export function each(change: Change): (list: unknown) => unknown {
  return (list) => {
    if (!Array.isArray(list)) return list
    const next = (list as readonly unknown[]).map((item) => (isJsonObject(item) ? change(item) : item))
    if (next.every((item, i) => item === list[i])) return list
    return next.filter((item) => item !== undefined)
  }
}

/**
 * Returns a function that applies `change` to each object that is a value of a dictionary. The function returns the
 * same dictionary if no value changed.
 */
export function eachValue(change: (item: Shape) => Shape): (items: unknown) => unknown {
  return (items) => {
    if (!isJsonObject(items)) return items
    const next = Object.entries(items).map(([key, item]) => [key, objectChange(change)(item)] as const)
    return next.every(([key, item]) => item === items[key]) ? items : Object.fromEntries(next)
  }
}

/**
 * Returns a function that applies `change` to a value if it is an object. Any other value stays. The function can be
 * given to `at`.
 */
export function objectChange(change: Change): (value: unknown) => unknown {
  return (value) => (isJsonObject(value) ? change(value) : value)
}

/** Returns a function that applies several changes to an object, one after the other. */
export function inOrder(...changes: readonly ((item: Shape) => Shape)[]): (item: Shape) => Shape {
  return (item) => changes.reduce((value, change) => change(value), item)
}

/** An action of an older version. */
export type OldAction = Shape & { readonly type: string }

/** An action as an object whose keys can be read. Actions are JSON objects, so the cast only adds that knowledge. */
export function shapeOfAction(action: { readonly type: string }): OldAction {
  return action as OldAction
}
