import { codewords } from './qr-words.ts'
import { patterns, writeFormat } from './qr-patterns.ts'
import type { Modules } from './qr-patterns.ts'
import { penalty } from './qr-penalty.ts'
import { versionFor } from './qr-version.ts'

/** The masks. Each tells which modules change their colour, so that the code has no pattern that disturbs a reader. */
export const masks: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_row, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
]

/** A QR code of a text (ISO/IEC 18004), as rows of modules: true is dark. */
export function qrCode(text: string): readonly (readonly boolean[])[] {
  const bytes = new TextEncoder().encode(text)
  const version = versionFor(bytes.length)
  const { modules, reserved } = patterns(version)
  const words = codewords(bytes, version)
  const free = [...freeModules(reserved)]
  const candidates = masks.map((isMasked, mask) => {
    const drawn = modules.map((row) => [...row])
    free.forEach(([row, column], at) => {
      const bit = ((words[at >> 3] ?? 0) >> (7 - (at & 7))) & 1
      const line = drawn[row]
      if (line) line[column] = (bit === 1) !== isMasked(row, column)
    })
    writeFormat(drawn, mask)
    return { drawn, penalty: penalty(drawn) }
  })
  return candidates.reduce((best, each) => (each.penalty < best.penalty ? each : best)).drawn
}

/**
 * Yields the free modules in the order in which codewords fill them: in pairs of columns from the right, the first
 * pair upwards, the next one downwards, and so on.
 */
export function* freeModules(reserved: Modules): Generator<readonly [row: number, column: number]> {
  const size = reserved.length
  let upwards = true
  for (let right = size - 1; right > 0; right -= 2) {
    // The column of the timing pattern belongs to no pair.
    if (right === 6) right = 5
    for (let step = 0; step < size; step++) {
      const row = upwards ? size - 1 - step : step
      for (const column of [right, right - 1]) if (reserved[row]?.[column] === false) yield [row, column]
    }
    upwards = !upwards
  }
}
