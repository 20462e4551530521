/**
 * Powers and logarithms in the field GF(256) with the polynomial 0x11d, which QR codes use. They turn a product into
 * a sum.
 */
const powers = new Uint8Array(512)
const logarithms = new Uint8Array(256)
for (let exponent = 0, value = 1; exponent < 255; exponent++) {
  powers[exponent] = value
  powers[exponent + 255] = value
  logarithms[value] = exponent
  value <<= 1
  if (value > 255) value ^= 0x11d
}

export function product(a: number, b: number): number {
  if (a === 0 || b === 0) return 0
  return powers[(logarithms[a] ?? 0) + (logarithms[b] ?? 0)] ?? 0
}

/** The generator polynomial of this degree, without its leading 1. */
function generator(degree: number): readonly number[] {
  let polynomial = [1]
  for (let root = 0; root < degree; root++) {
    const factor = powers[root] ?? 0
    const next = [...polynomial, 0]
    polynomial.forEach((each, at) => (next[at + 1] = (next[at + 1] ?? 0) ^ product(each, factor)))
    polynomial = next
  }
  return polynomial.slice(1)
}

/** The codewords that let a reader correct errors in a block: the rest of the division by the generator polynomial. */
export function correction(block: readonly number[], count: number): readonly number[] {
  const divisor = generator(count)
  let rest = Array.from({ length: count }, () => 0)
  for (const word of block) {
    const factor = word ^ (rest[0] ?? 0)
    rest = [...rest.slice(1), 0].map((each, at) => each ^ product(divisor[at] ?? 0, factor))
  }
  return rest
}
