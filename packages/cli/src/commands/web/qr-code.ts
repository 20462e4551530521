import { encode } from 'uqr'

/** The light modules around a QR code. A reader needs some. The standard asks for four; all readers accept two. */
const border = 2

/**
 * A QR code as lines of text, two rows of modules in each line. With colours it is black on white on every terminal. Without
 * them the light modules are drawn, so the terminal must have a dark background.
 */
export function qrCode(text: string, coloured: boolean): string {
  const { data, size } = encode(text, { border })
  const isLight = (row: number, column: number) => data[row]?.[column] === false
  return Array.from({ length: Math.ceil(size / 2) }, (_, at) => {
    const columns = Array.from({ length: size }, (__, column) => column)
    const line = columns.map((column) => block(isLight(2 * at, column), isLight(2 * at + 1, column))).join('')
    return coloured ? `\x1b[38;5;231;48;5;16m${line}\x1b[0m` : line
  }).join('\n')
}

/** Returns the character that fills its upper half, its lower half, both, or none. */
function block(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀'
  return lower ? '▄' : ' '
}
