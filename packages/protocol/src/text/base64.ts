/**
 * Encodes bytes as base64. This package has its own encoder, because browsers and Node have no common one. The encoder fills
 * one buffer instead of joining strings, because files are large.
 */
export function toBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  let at = 0
  for (let i = 0; i < bytes.length; i += 3) {
    const a = bytes[i] ?? 0
    const b = bytes[i + 1] ?? 0
    const c = bytes[i + 2] ?? 0
    text[at++] = letters[a >> 2] ?? 0
    text[at++] = letters[((a & 3) << 4) | (b >> 4)] ?? 0
    text[at++] = i + 1 < bytes.length ? (letters[((b & 15) << 2) | (c >> 6)] ?? 0) : pad
    text[at++] = i + 2 < bytes.length ? (letters[c & 63] ?? 0) : pad
  }
  return ascii.decode(text)
}

/** Decodes base64. Returns `undefined` for any other text: a foreign character, wrong padding, surplus bits. */
export function fromBase64(text: string): Uint8Array | undefined {
  const end = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const length = text.length - end
  if (text.length % 4 !== 0) return undefined
  const bytes = new Uint8Array((text.length / 4) * 3 - end)
  let at = 0
  let bits = 0
  let bitCount = 0
  for (let i = 0; i < length; i++) {
    const value = values[text.charCodeAt(i)] ?? invalid
    if (value === invalid) return undefined
    bits = (bits << 6) | value
    bitCount += 6
    if (bitCount < 8) continue
    bitCount -= 8
    bytes[at++] = (bits >> bitCount) & 255
    bits &= (1 << bitCount) - 1
  }
  // Non-zero bits after the last byte would be a second encoding of the same bytes.
  return bits === 0 ? bytes : undefined
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const letters = new TextEncoder().encode(alphabet)
const pad = 61
const invalid = 255
const values = new Uint8Array(128).fill(invalid)
for (const [value, code] of letters.entries()) values[code] = value
const ascii = new TextDecoder('latin1')
