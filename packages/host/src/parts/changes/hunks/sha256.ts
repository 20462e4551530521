/**
 * The SHA-256 of bytes, as hexadecimal digits. It identifies a hunk. Nobody can write another hunk with the same hash as a hunk
 * that a person has reviewed.
 */
export function sha256(bytes: Uint8Array): string {
  const state = Uint32Array.from(initial)
  const padded = withPadding(bytes)
  const view = new DataView(padded.buffer)
  const words = new Uint32Array(64)
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(block + 4 * i)
    for (let i = 16; i < 64; i++) {
      const [early, late] = [words[i - 15] ?? 0, words[i - 2] ?? 0]
      const s0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
      const s1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
      words[i] = (words[i - 16] ?? 0) + s0 + (words[i - 7] ?? 0) + s1
    }
    mix(state, words)
  }
  return [...state].map((word) => word.toString(16).padStart(8, '0')).join('')
}

/** Adds one block to the hash. The names of the variables are those of FIPS 180-4. */
function mix(state: Uint32Array, words: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < 64; i++) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const choice = (e & f) ^ (~e & g)
    const one = (h + s1 + choice + (constants[i] ?? 0) + (words[i] ?? 0)) | 0
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    ;[h, g, f, e] = [g, f, e, (d + one) | 0]
    ;[d, c, b, a] = [c, b, a, (one + s0 + majority) | 0]
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] ?? 0) + word
}

/** Pads bytes for the hash: appends a bit that ends them, zeros, and their length in bits. */
function withPadding(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(64 * Math.ceil((bytes.length + 9) / 64))
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000))
  view.setUint32(padded.length - 4, (bytes.length * 8) >>> 0)
  return padded
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

const primes: number[] = []
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
const fraction = (root: number) => Math.floor((root % 1) * 0x100000000)
const constants = primes.map((prime) => fraction(Math.cbrt(prime)))
const initial = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))
