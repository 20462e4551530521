/**
 * The ids of spans are digests of what the spans are about, so that a turn has the same ids after a restart, and nobody needs to
 * remember them.
 */
export function traceIdOf(...names: readonly string[]): string {
  return digest(names, 4)
}

export function spanIdOf(...names: readonly string[]): string {
  return digest(names, 2)
}

/** The header of W3C Trace Context. */
export function traceparentOf(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`
}

/** Returns words of 32 bits as hexadecimal digits. The digest need not resist an attacker: equal ids only confuse a picture. */
function digest(names: readonly string[], words: number): string {
  const text = names.join('\n')
  return Array.from({ length: words }, (_, word) => hash(text, word + 1))
    .map((value) => value.toString(16).padStart(8, '0'))
    .join('')
}

/** FNV-1a with a seed, and the last step of Murmur3, which spreads each bit. Never 0, because an id must not be all zeros. */
function hash(text: string, seed: number): number {
  let value = (0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1)) >>> 0
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0 || seed
}
