import jsqr from 'jsqr'
import { expect, test } from 'vitest'
import { qrCode } from './qr-code.ts'

/** What a camera reads from the lines, with four pixels to a module. */
function readBy(text: string): string | undefined {
  const rows = text
    .split('\n')
    .flatMap((line) => [
      line.split('').map((block) => '█▀'.includes(block)),
      line.split('').map((block) => '█▄'.includes(block)),
    ])
  const scale = 4
  const [width, height] = [(rows[0]?.length ?? 0) * scale, rows.length * scale]
  const pixels = Array.from({ length: width * height }, (_, at) => {
    const isLight = rows[Math.floor(at / width / scale)]?.[Math.floor((at % width) / scale)]
    return isLight ? [255, 255, 255, 255] : [0, 0, 0, 255]
  })
  return jsqr.default(new Uint8ClampedArray(pixels.flat()), width, height)?.data
}

test.each([1, 17, 53, 134, 230, 600])('[Z60] a camera reads a link of %s characters', (length) => {
  const link = 'https://atrium.example:7433/#code=ABCDE-01234'.repeat(20).slice(0, length)
  expect(readBy(qrCode(link, false))).toBe(link)
})

test('[Z60] a QR code is text: two rows in a line, black on white where there are colours', () => {
  const plain = qrCode('HTTPS://A.EXAMPLE', false).split('\n')
  expect(plain).toHaveLength(13)
  for (const line of plain) expect(line).toMatch(/^[█▀▄ ]{25}$/)
  expect(qrCode('HTTPS://A.EXAMPLE', true)).toContain('\u001b[38;5;231;48;5;16m')
})
