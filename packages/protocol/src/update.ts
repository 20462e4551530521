/**
 * Changes of an immutable state. A state equals its own JSON, so no key holds `undefined`: in a patch, `undefined`
 * removes the key.
 */
export type Changes<S> = { readonly [K in keyof S]?: Loose<S>[K] }

/** The same type, except that an optional key may be present with the value `undefined`. */
type Loose<T> = { readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] }

export function patch<S extends object>(state: S, changes: Changes<S>): S {
  const next: S = { ...state }
  for (const key in changes) {
    const value = changes[key]
    if (value === undefined) delete next[key]
    // The value is not `undefined` here, so it has the type that `S` gives the key.
    else next[key] = value as S[typeof key]
  }
  return next
}

/**
 * Copies an object without the keys whose value is `undefined`. `Loose<T>` and `T` differ only in such keys, which
 * makes the casts safe.
 */
export function compact<T extends object>(loose: Loose<T>): T {
  const kept: Partial<T> = {}
  for (const key in loose) if (loose[key] !== undefined) kept[key] = loose[key] as T[typeof key]
  return kept as T
}

/** Replaces the first item that has the same key value, or appends the new one. */
export function upsert<T>(list: readonly T[] | undefined, key: keyof T, item: T): readonly T[] {
  const at = list?.findIndex((old) => old[key] === item[key]) ?? -1
  if (!list || at < 0) return [...(list ?? []), item]
  return list.with(at, item)
}

/** Removes the first item whose key has that value. Returns the same list if there is none. */
export function remove<T, K extends keyof T>(list: readonly T[], key: K, value: T[K]): readonly T[] {
  const at = list.findIndex((item) => item[key] === value)
  return at < 0 ? list : list.toSpliced(at, 1)
}

/** Applies a function to each item. Returns the same list if no item changed. */
export function mapped<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const next = list.map(change)
  return next.every((item, i) => item === list[i]) ? list : next
}

/** Returns the list, or `undefined` if it is empty, because an empty queue is an absent key. */
export function orAbsent<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

/** Removes optional keys. Returns the same object if it has none of them. */
export function without<T extends object>(value: T, ...keys: readonly Removable<T>[]): T {
  if (!keys.some((key) => key in value)) return value
  const left: T = { ...value }
  for (const key of keys) delete left[key]
  return left
}

type Removable<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T]

/** Applies a function to the value at a key. Returns the same object if the value is absent or did not change. */
export function within<T extends object, K extends keyof T>(
  value: T,
  key: K,
  change: (inner: NonNullable<T[K]>) => NonNullable<T[K]>,
): T {
  const inner = value[key]
  if (inner === undefined || inner === null) return value
  const next = change(inner)
  return next === inner ? value : { ...value, [key]: next }
}
