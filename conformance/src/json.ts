/** Compares JSON values as AHP does: a key with the value null equals an absent key. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b)
}

export function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
    const entries = Object.entries(item).filter(([, child]) => child !== null && child !== undefined)
    return Object.fromEntries(entries.toSorted(([x], [y]) => (x < y ? -1 : 1)))
  })
}

/** Where two JSON values differ, as JSON pointers, in order. */
export function differences(a: unknown, b: unknown, at = ''): readonly string[] {
  if (sameJson(a, b)) return []
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) return [at]
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const [one, other] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  return [...keys].flatMap((key) => differences(one.get(key), other.get(key), `${at}/${key}`)).toSorted()
}

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null
