/**
 * Whether two JSON values are equal. Two states share their unchanged parts as the same objects, so only the other parts are
 * compared.
 */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => equal(item, b[i]))
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  // The cast is safe: at this point both values are plain objects, whose members are read by name.
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  return keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key]))
}
