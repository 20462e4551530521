import { expect, test } from 'vitest'
import { freeModules, masks, qrCode } from './qr-code.ts'
import { formatBits, formatPlaces, patterns, versionBits } from './qr-patterns.ts'
import { qrText } from './qr-text.ts'
import { lengthBits, maxBytes, versionFor } from './qr-version.ts'
import { correction, product } from './reed-solomon.ts'

/** Reads a QR code as a reader does that sees no errors, and checks the corrections of each block. */
function readText(code: readonly (readonly boolean[])[], bytes: number): string {
  const version = versionFor(bytes)
  expect(code).toHaveLength(version.size)
  const bitAt = ([row, column]: readonly [number, number]) => (code[row]?.[column] === true ? 1 : 0)
  const formats = [0, 1].map((copy) =>
    Array.from({ length: 15 }, (_, at) => formatPlaces(version.size, at)[copy] ?? ([0, 0] as const))
      .map(bitAt)
      .reduce<number>((sum, bit, at) => sum | (bit << at), 0),
  )
  const mask = masks.findIndex((_, each) => formatBits(each) === formats[0])
  expect(formats[1]).toBe(formats[0])
  const bits = [...freeModules(patterns(version).reserved)].map(([row, column]) =>
    masks[mask]?.(row, column) === true ? 1 - bitAt([row, column]) : bitAt([row, column]),
  )
  const words = Array.from({ length: Math.floor(bits.length / 8) }, (_, at) =>
    bits.slice(8 * at, 8 * at + 8).reduce((word, bit) => 2 * word + bit, 0),
  )
  const blocks: number[][] = version.blocks.map(() => [])
  let next = 0
  for (let at = 0; at < Math.max(...version.blocks); at++)
    version.blocks.forEach((length, block) => at < length && blocks[block]?.push(words[next++] ?? 0))
  const corrections: number[][] = version.blocks.map(() => [])
  for (let at = 0; at < version.corrections; at++)
    for (const each of corrections) each.push(words[next++] ?? 0)
  blocks.forEach((block, at) => {
    // A block with its corrections is a multiple of the generator: it is zero at each of its roots.
    for (let root = 0, x = 1; root < version.corrections; root++, x = product(x, 2))
      expect([...block, ...(corrections[at] ?? [])].reduce((sum, word) => product(sum, x) ^ word, 0)).toBe(0)
  })
  const data = blocks
    .flat()
    .map((word) => word.toString(2).padStart(8, '0'))
    .join('')
  const start = 4 + lengthBits(version)
  expect(data.slice(0, 4)).toBe('0100')
  const length = Number.parseInt(data.slice(4, start), 2)
  const text = Array.from({ length }, (_, at) =>
    Number.parseInt(data.slice(start + 8 * at, start + 8 * at + 8), 2),
  )
  return new TextDecoder().decode(new Uint8Array(text))
}

test('[Z60] a QR code of every size is read back', () => {
  for (const bytes of [1, 17, 18, 32, 53, 78, 106, 134, 154, 192, 230, 231, maxBytes]) {
    const text = 'https://atrium.example:7433/#code=ABCDE-01234'.repeat(7).slice(0, bytes)
    expect(readText(qrCode(text), bytes)).toBe(text)
  }
  expect(() => qrCode('x'.repeat(maxBytes + 1))).toThrow('a text of 272 bytes does not fit')
})

test('[Z60] corrections, formats and versions are those of the standard', () => {
  const words = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
  expect(correction(words, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
  expect(formatBits(0).toString(2)).toBe('111011111000100')
  expect(formatBits(7).toString(2)).toBe('110100101110110')
  expect(versionBits(7).toString(2).padStart(18, '0')).toBe('000111110010010100')
})

test('[Z60] a QR code is text: two rows in a line, black on white where there are colours', () => {
  const plain = qrText('HTTPS://A.EXAMPLE', false).split('\n')
  expect(plain).toHaveLength(13)
  for (const line of plain) expect(line).toMatch(/^[█▀▄ ]{25}$/)
  expect(qrText('HTTPS://A.EXAMPLE', true)).toContain('\u001b[38;5;231;48;5;16m')
})
