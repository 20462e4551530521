/** Base64 of bytes, here because no runtime that we support has it everywhere. Whole buffers at once: files are large. */
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

/** Nothing where it is not base64: letters, then padding, nothing else. */
export function fromBase64(text: string): Uint8Array | undefined {
  const end = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const length = text.length - end
  if (text.length % 4 !== 0) return undefined
  const bytes = new Uint8Array((text.length / 4) * 3 - end)
  let at = 0
  let bits = 0
  let held = 0
  for (let i = 0; i < length; i++) {
    const value = values[text.charCodeAt(i)] ?? none
    if (value === none) return undefined
    bits = (bits << 6) | value
    held += 6
    if (held < 8) continue
    held -= 8
    bytes[at++] = (bits >> held) & 255
    bits &= (1 << held) - 1
  }
  // Bits beyond the last byte would be another text for the same bytes.
  return bits === 0 ? bytes : undefined
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const letters = new TextEncoder().encode(alphabet)
const pad = 61
const none = 255
const values = new Uint8Array(128).fill(none)
for (const [value, code] of letters.entries()) values[code] = value
const ascii = new TextDecoder('latin1')
