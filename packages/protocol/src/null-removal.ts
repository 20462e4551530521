import { isJsonObject } from './json.ts'
import type { JsonObject } from './json.ts'

/**
 * Removes the nulls that stand for absent optional keys. Returns the same value if it has none, and undefined if the
 * key that holds the value must be removed. Each schema may have one such function.
 */
export type NullRemoval = (value: unknown) => unknown

export function inItems(remove: NullRemoval): NullRemoval {
  return (value) => {
    if (!Array.isArray(value)) return value
    const next = value.map(remove)
    return next.every((item, i) => item === value[i]) ? value : next
  }
}

export function inValues(remove: NullRemoval): NullRemoval {
  return (value) => (isJsonObject(value) ? inKeys(value, Object.keys(value), () => remove) : value)
}

export function inShape(removals: ReadonlyMap<string, NullRemoval>): NullRemoval {
  const keys = [...removals.keys()]
  return (value) => (isJsonObject(value) ? inKeys(value, keys, (key) => removals.get(key)) : value)
}

/** Removes the nulls of a tagged union with the function of the member that the tag `tagKey` names. */
export function inMember(tagKey: string, removalOf: (tag: string) => NullRemoval | undefined): NullRemoval {
  return (value) => (isJsonObject(value) ? (removalOf(String(value[tagKey]))?.(value) ?? value) : value)
}

function inKeys(
  value: JsonObject,
  keys: readonly string[],
  removalAt: (key: string) => NullRemoval | undefined,
): JsonObject {
  let next: Record<string, unknown> | undefined
  for (const key of keys) {
    if (!Object.hasOwn(value, key)) continue
    const kept = removalAt(key)?.(value[key])
    if (kept === value[key]) continue
    next ??= { ...value }
    if (kept === undefined) delete next[key]
    else next[key] = kept
  }
  return next ?? value
}
