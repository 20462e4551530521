/**
 * Reads what a part of the host offers to others: `changesOf(core)`. Throws if the part is not open. A part may set a value that has
 * more than others see of it.
 */
export interface Key<V> extends Place<V> {
  (core: Keyed): V
}

/** Where a part puts what it offers. */
export interface Place<V> {
  /** Never set. It ties the place to a type. */
  readonly sets?: (value: V) => void
}

interface Keyed {
  readonly parts: { get<V>(key: Key<V>): V }
}

/** `name`: the name of the part, for the error. */
export function defineKey<V>(name: string): Key<V> {
  const key = ({ parts }: Keyed): V => parts.get(key)
  return Object.defineProperty(key, 'name', { value: name })
}
