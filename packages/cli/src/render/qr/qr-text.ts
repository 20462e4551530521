import { qrCode } from './qr-code.ts'

/** The light modules around a QR code. A reader needs some. The standard asks for four; all readers accept two. */
const margin = 2

/**
 * A QR code as lines of text, two rows of modules in each line. With colours it is black on white on every terminal. Without
 * them the light modules are drawn, so the terminal must have a dark background.
 */
export function qrText(text: string, coloured: boolean): string {
  const code = qrCode(text)
  const isLight = (row: number, column: number) => code[row]?.[column] !== true
  const end = code.length + margin
  const lines: string[] = []
  for (let row = -margin; row < end; row += 2) {
    let line = ''
    for (let column = -margin; column < end; column++)
      line += block(isLight(row, column), row + 1 < end && isLight(row + 1, column))
    lines.push(coloured ? `\x1b[38;5;231;48;5;16m${line}\x1b[0m` : line)
  }
  return lines.join('\n')
}

/** Returns the character that fills its upper half, its lower half, both, or none. */
function block(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀'
  return lower ? '▄' : ' '
}
