/** Names what a part of the host offers to others, and says its type. */
export interface Key<V> {
  readonly name: string
  /** Never set. It ties the key to the type: a part may set a value that has more than others see of it. */
  readonly sets?: (value: V) => void
}

export function defineKey<V>(name: string): Key<V> {
  return { name }
}
