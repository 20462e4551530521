import { correction } from './reed-solomon.ts'
import { dataWords, lengthBits } from './qr-version.ts'
import type { QrVersion } from './qr-version.ts'

/** The mode bits that say that the text is stored byte by byte. */
const byteMode = 0b0100
/** The two codewords that alternately fill the space after the text. */
const fillers = [0xec, 0x11] as const

/** All codewords of a QR code in the order in which they are drawn: those of the text, then those that correct errors. */
export function codewords(bytes: Uint8Array, version: QrVersion): readonly number[] {
  const data = dataOf(bytes, version)
  let from = 0
  const blocks = version.blocks.map((length) => data.slice(from, (from += length)))
  const corrections = blocks.map((block) => correction(block, version.corrections))
  return [...interleaved(blocks), ...interleaved(corrections)]
}

function dataOf(bytes: Uint8Array, version: QrVersion): readonly number[] {
  const bits: number[] = []
  const write = (value: number, count: number) => {
    for (let at = count - 1; at >= 0; at--) bits.push((value >> at) & 1)
  }
  write(byteMode, 4)
  write(bytes.length, lengthBits(version))
  for (const byte of bytes) write(byte, 8)
  const capacity = 8 * dataWords(version)
  // The end of the text is marked by up to four zeros.
  write(0, Math.min(4, capacity - bits.length))
  write(0, (8 - (bits.length % 8)) % 8)
  for (let turn = 0; bits.length < capacity; turn++) write(fillers[turn % 2] ?? 0, 8)
  return Array.from({ length: capacity / 8 }, (_, at) =>
    bits.slice(8 * at, 8 * at + 8).reduce((word, bit) => 2 * word + bit, 0),
  )
}

/** Returns the first words of all blocks, then the second words, and so on. Blocks may have different lengths. */
function interleaved(blocks: readonly (readonly number[])[]): readonly number[] {
  const longest = Math.max(...blocks.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => blocks.flatMap((block) => block[at] ?? [])).flat()
}
