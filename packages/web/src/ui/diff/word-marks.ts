import { diffArrays } from 'diff'

/** A piece of a line, and whether it is only on this side. */
export interface LinePiece {
  readonly text: string
  readonly changed: boolean
}

/** Number of characters up to which lines are compared word by word. Longer ones would take too long. */
const maxLength = 2000
/** Number of different words up to which lines are compared. */
const maxEditLength = 200
/** The share of a line that must be in the other one. Marks in lines that have hardly anything in common say nothing. */
const leastShared = 0.3

/**
 * A line in pieces, compared with the line that stands for it on the other side. Undefined if the lines are too different or
 * too long for that.
 */
export function linePieces(line: string, other: string): readonly LinePiece[] | undefined {
  if (line.length > maxLength || other.length > maxLength) return undefined
  const parts = diffArrays(wordsOf(other), wordsOf(line), { maxEditLength })
  if (!parts) return undefined
  const pieces: LinePiece[] = []
  let shared = 0
  for (const { value, added, removed } of parts) {
    if (removed) continue
    const text = value.join('')
    if (!added) shared += text.trim().length
    const last = pieces.at(-1)
    // A space between two changed words belongs to the change: one mark is easier to read than two.
    const changed = added || (text.trim() === '' && last?.changed === true)
    if (last?.changed === changed) pieces[pieces.length - 1] = { text: last.text + text, changed }
    else pieces.push({ text, changed })
  }
  const length = Math.max(line.trim().length, other.trim().length)
  return shared < length * leastShared ? undefined : withoutLastSpace(pieces)
}

/** The words, the runs of spaces, and the other characters one by one. */
function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{M}\p{N}_]+|\s+|./gsu) ?? []
}

/** The pieces without a marked space at the end of a change, which would look as if it had changed. */
function withoutLastSpace(pieces: readonly LinePiece[]): readonly LinePiece[] {
  return pieces.flatMap((piece, at) => {
    const word = piece.text.trimEnd()
    const isEnd = at === pieces.length - 1
    if (!piece.changed || isEnd || word === '' || word === piece.text) return [piece]
    return [
      { text: word, changed: true },
      { text: piece.text.slice(word.length), changed: false },
    ]
  })
}
