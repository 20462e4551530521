/**
 * The sizes of a version of QR codes at the lowest level of error correction. A code on a screen has no stains, so
 * this level is enough.
 */
export interface QrVersion {
  readonly number: number
  /** The number of modules of each side. */
  readonly size: number
  /** The numbers of data codewords of the blocks. */
  readonly blocks: readonly number[]
  /** The number of correction codewords of each block. */
  readonly corrections: number
  /** The rows and columns in which alignment patterns have their centres. */
  readonly centres: readonly number[]
}

/** Data codewords of each block, correction codewords of each block, distance of the alignment patterns. */
const table: readonly (readonly [blocks: readonly number[], corrections: number, distance: number])[] = [
  [[19], 7, 0],
  [[34], 10, 12],
  [[55], 15, 16],
  [[80], 20, 20],
  [[108], 26, 24],
  [[68, 68], 18, 28],
  [[78, 78], 20, 16],
  [[97, 97], 24, 18],
  [[116, 116], 30, 20],
  [[68, 68, 69, 69], 18, 22],
]

const versions: readonly QrVersion[] = table.map(([blocks, corrections, distance], at) => {
  const size = 21 + 4 * at
  const count = distance === 0 ? 0 : Math.round((size - 13) / distance) + 1
  return {
    number: at + 1,
    size,
    blocks,
    corrections,
    centres: Array.from({ length: count }, (_, place) => 6 + place * distance),
  }
})

/** The longest text that fits, in bytes. */
export const maxBytes = 271

/** The smallest version that holds this number of bytes. */
export function versionFor(bytes: number): QrVersion {
  const found = versions.find((version) => bytes <= capacityOf(version))
  if (!found) throw new RangeError(`a text of ${bytes} bytes does not fit into a QR code`)
  return found
}

/** The number of bits that tell the length of the text. */
export function lengthBits({ number }: QrVersion): 8 | 16 {
  return number < 10 ? 8 : 16
}

export function dataWords({ blocks }: QrVersion): number {
  return blocks.reduce((sum, words) => sum + words, 0)
}

function capacityOf(version: QrVersion): number {
  return Math.floor((8 * dataWords(version) - 4 - lengthBits(version)) / 8)
}
