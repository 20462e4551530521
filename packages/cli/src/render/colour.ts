import { widthOf } from './table.ts'

// oxlint-disable-next-line no-control-regex
const colour = /\u001b\[([0-9;]*)m/g

/** The colour codes and the characters of a text. */
// oxlint-disable-next-line no-control-regex
export const pieces = /\u001b\[[0-9;]*m|[^]/gu

/** Returns the colour codes that are still on at the end of a text. */
export function colourAfter(text: string): string {
  let on: string[] = []
  for (const [sequence, code = ''] of text.matchAll(colour)) {
    if (code === '' || code === '0') on = []
    else if (code === '22') on = on.filter((each) => !/\[[12]m/.test(each))
    else if (code === '39') on = on.filter((each) => !/\[3\dm/.test(each))
    else on.push(sequence)
  }
  return on.join('')
}

/** Returns the code that switches off the colours that are on at the end of a text. */
export function reset(text: string): string {
  return colourAfter(text) === '' ? '' : '\u001b[0m'
}

/**
 * Breaks a line into rows of at most `columns` columns, wherever they are full: no character is left out. Continued rows have
 * the indent of the line. A tab becomes spaces, because its width on the screen depends on its place.
 */
export function hardRows(line: string, columns: number): readonly string[] {
  const [indent = ''] = /^ */.exec(line) ?? []
  const margin = indent.slice(0, Math.floor(columns / 2))
  const rows: string[] = []
  let row = ''
  let width = 0
  for (const [piece] of line.matchAll(pieces)) {
    const shown = piece === '\t' ? ' '.repeat(8 - (width % 8)) : piece
    const more = widthOf(shown)
    if (width + more > columns) {
      rows.push(row + reset(row))
      row = margin + colourAfter(row)
      width = margin.length
    }
    row += shown
    width += more
  }
  return [...rows, row]
}
