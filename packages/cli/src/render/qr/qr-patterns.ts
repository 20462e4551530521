import type { QrVersion } from './qr-version.ts'

/** Rows of modules. */
export type Modules = boolean[][]

interface Patterns {
  /** The modules that are the same in all QR codes of a version. */
  readonly modules: Modules
  /** True where no codewords are drawn. */
  readonly reserved: Modules
}

/** Draws what a reader finds its way by: three finders, alignment patterns, timing patterns and the version. */
export function patterns({ size, centres, number }: QrVersion): Patterns {
  const grid = () => Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  const modules = grid()
  const reserved = grid()
  const set = (row: number, column: number, dark: boolean) => {
    if (row < 0 || column < 0 || row >= size || column >= size) return
    write(modules, row, column, dark)
    write(reserved, row, column, true)
  }
  /**
   * Draws square rings around a centre, up to the distance `radius`. The rings at the distances in `light` are light,
   * all others dark.
   */
  const rings = (row: number, column: number, radius: number, light: readonly number[]) => {
    for (let down = -radius; down <= radius; down++)
      for (let right = -radius; right <= radius; right++)
        set(row + down, column + right, !light.includes(Math.max(Math.abs(down), Math.abs(right))))
  }
  for (let at = 8; at < size - 8; at++) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  const last = size - 4
  for (const [row, column] of [
    [3, 3],
    [3, last],
    [last, 3],
  ] as const)
    rings(row, column, 4, [2, 4])
  const [first = 0, end = 0] = [centres[0], centres.at(-1)]
  for (const row of centres)
    for (const column of centres) {
      const isFinder =
        (row === first && column === first) ||
        (row === first && column === end) ||
        (row === end && column === first)
      if (!isFinder) rings(row, column, 2, [1])
    }
  // Reserves the places of the format. Its bits depend on the mask, so `writeFormat` writes them later.
  for (let at = 0; at < 15; at++)
    for (const [row, column] of formatPlaces(size, at)) write(reserved, row, column, true)
  set(size - 8, 8, true)
  if (number >= 7)
    for (let at = 0; at < 18; at++) {
      const dark = ((versionBits(number) >> at) & 1) === 1
      const [near, far] = [Math.floor(at / 3), size - 11 + (at % 3)]
      set(near, far, dark)
      set(far, near, dark)
    }
  return { modules, reserved }
}

/** Writes the format twice: the level of error correction and the number of the mask. */
export function writeFormat(modules: Modules, mask: number): void {
  const bits = formatBits(mask)
  for (let at = 0; at < 15; at++)
    for (const [row, column] of formatPlaces(modules.length, at))
      write(modules, row, column, ((bits >> at) & 1) === 1)
}

/** The two places of a bit of the format. Bit 0 is the lowest. */
export function formatPlaces(size: number, at: number): readonly (readonly [row: number, column: number])[] {
  const upright = at < 6 ? at : at < 8 ? at + 1 : size - 15 + at
  const across = at < 8 ? size - 1 - at : at === 8 ? 7 : 14 - at
  return [
    [upright, 8],
    [8, across],
  ]
}

/**
 * The format bits of a mask at the lowest level of error correction: five data bits, then ten bits that correct
 * errors. The standard combines them with a fixed pattern by XOR.
 */
export function formatBits(mask: number): number {
  const data = (0b01 << 3) | mask
  return ((data << 10) | remainder(data << 10, 0b10100110111, 10)) ^ 0b101010000010010
}

/** The number of a version: six bits, and twelve that correct errors. */
export function versionBits(version: number): number {
  return (version << 12) | remainder(version << 12, 0b1111100100101, 12)
}

/**
 * The remainder of a division of two polynomials over GF(2). Each bit is a coefficient. `degree` is the degree of the
 * divisor.
 */
function remainder(dividend: number, divisor: number, degree: number): number {
  let rest = dividend
  for (let bit = 31 - Math.clz32(rest); bit >= degree && rest !== 0; bit = 31 - Math.clz32(rest))
    rest ^= divisor << (bit - degree)
  return rest
}

function write(modules: Modules, row: number, column: number, dark: boolean): void {
  const line = modules[row]
  if (line) line[column] = dark
}
