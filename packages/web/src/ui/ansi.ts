/** A piece of the output of a program, and its look: class names such as `ansi-1 ansi-bold`; empty if it has none. */
export interface OutputPiece {
  readonly text: string
  readonly look: string
}

interface Look {
  readonly colour?: number | undefined
  readonly bold?: boolean
  readonly faint?: boolean
  readonly underlined?: boolean
}

/** Escape sequences of terminals: with parameters, with a text (titles, links), and short ones. */
const sequence = /\u001b(?:\[([0-?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g

/**
 * The output of a program in pieces, with the colours that it asks for by escape sequences. All other sequences are left
 * out. A line that was written over by carriage returns is as it was last.
 */
export function outputPieces(output: string): readonly OutputPiece[] {
  const text = output.replaceAll(/\r+\n/g, '\n').replaceAll(/[^\n\r]*\r(?!$)/g, '')
  const pieces: OutputPiece[] = []
  let [look, from]: [Look, number] = [{}, 0]
  const add = (part: string) => part !== '' && pieces.push({ text: part, look: classesOf(look) })
  for (const found of text.matchAll(sequence)) {
    const [whole, parameters = '', final] = found
    add(text.slice(from, found.index))
    from = found.index + whole.length
    if (final === 'm') look = changed(look, parameters.split(/[;:]/).map(Number))
  }
  add(text.slice(from))
  return pieces
}

/** A look after the parameters of a sequence that changes it (SGR). */
function changed(look: Look, [code = 0, ...more]: readonly number[]): Look {
  let [next, rest] = [look, more]
  if (code === 0) next = {}
  else if (code === 1) next = { ...look, bold: true }
  else if (code === 2) next = { ...look, faint: true }
  else if (code === 4) next = { ...look, underlined: true }
  else if (code === 22) next = { ...look, bold: false, faint: false }
  else if (code === 24) next = { ...look, underlined: false }
  else if (code >= 30 && code <= 37) next = { ...look, colour: code - 30 }
  else if (code >= 90 && code <= 97) next = { ...look, colour: code - 90 }
  else if (code === 39) next = { ...look, colour: undefined }
  else if (code === 38 || code === 48) {
    const [kind, first = 0] = more
    // Of the 256 colours, the page has the first sixteen. Others are shown as usual text.
    if (code === 38) next = { ...look, colour: kind === 5 && first < 16 ? first % 8 : undefined }
    rest = more.slice(kind === 5 ? 2 : 4)
  }
  return rest.length > 0 ? changed(next, rest) : next
}

function classesOf({ colour, bold = false, faint = false, underlined = false }: Look): string {
  return [
    colour === undefined ? '' : `ansi-${colour}`,
    bold ? 'ansi-bold' : '',
    faint ? 'ansi-faint' : '',
    underlined ? 'ansi-underlined' : '',
  ]
    .filter(Boolean)
    .join(' ')
}
