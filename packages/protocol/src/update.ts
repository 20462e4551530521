/**
 * Small steps from one immutable state to the next. A state equals its own JSON, so nothing is ever set to
 * `undefined`: in a patch `undefined` means that the key goes away.
 */
export type Changes<S> = { readonly [K in keyof S]?: Loose<S>[K] }

/** The same keys, but an optional one may be said to be absent by `undefined`. */
type Loose<T> = { readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] }

export function patch<S extends object>(state: S, changes: Changes<S>): S {
  const next: S = { ...state }
  for (const key in changes) {
    const value = changes[key]
    if (value === undefined) delete next[key]
    else next[key] = value as S[typeof key]
  }
  return next
}

/** An object without the keys whose value is `undefined`. */
export function compact<T extends object>(loose: Loose<T>): T {
  const kept: Partial<T> = {}
  for (const key in loose) if (loose[key] !== undefined) kept[key] = loose[key] as T[typeof key]
  return kept as T
}

/** Replaces the first item with the same key in place, or appends. */
export function upsert<T>(list: readonly T[] | undefined, key: keyof T, item: T): readonly T[] {
  const at = list?.findIndex((old) => old[key] === item[key]) ?? -1
  if (!list || at < 0) return [...(list ?? []), item]
  return list.with(at, item)
}

/** Without the first item whose key has that value; the same list when there is none. */
export function remove<T, K extends keyof T>(list: readonly T[], key: K, value: T[K]): readonly T[] {
  const at = list.findIndex((item) => item[key] === value)
  return at < 0 ? list : list.toSpliced(at, 1)
}

/** Each item through a function; the same list when nothing changed. */
export function mapped<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const next = list.map(change)
  return next.every((item, i) => item === list[i]) ? list : next
}

/** The list, or nothing when it is empty: an empty queue is an absent key. */
export function orAbsent<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

/** Without these keys; the same object when it has none of them. */
export function without<T extends object>(value: T, ...keys: readonly Removable<T>[]): T {
  if (!keys.some((key) => key in value)) return value
  const left: T = { ...value }
  for (const key of keys) delete left[key]
  return left
}

type Removable<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? K : never }[keyof T]

/** What is at a key through a function; the same object when nothing changed or nothing is there. */
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
