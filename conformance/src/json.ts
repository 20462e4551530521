/** Compares JSON values as AHP does: a key with the value null equals an absent key. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b)
}

export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
    const entries = Object.entries(item).filter(([, child]) => child !== null && child !== undefined)
    return Object.fromEntries(entries.toSorted(([x], [y]) => (x < y ? -1 : 1)))
  })
}
