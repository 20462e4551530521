/**
 * Returns where two JSON values differ first, in words; undefined if they are equal. The order of keys does not
 * count.
 */
export function difference(own: unknown, expected: unknown, path = 'state'): string | undefined {
  if (own === expected) return undefined
  if (!isObject(own) || !isObject(expected) || Array.isArray(own) !== Array.isArray(expected))
    return `${path} is ${shown(own)} instead of ${shown(expected)}`
  const keys = new Set([...Object.keys(own), ...Object.keys(expected)])
  for (const key of keys) {
    const found = difference(own[key], expected[key], `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
