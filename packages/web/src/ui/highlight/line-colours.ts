import { useEffect, useState } from 'preact/hooks'
import type { Span } from './highlight-spans.ts'
import { highlight } from './highlight.ts'

/** The coloured pieces of each line of a text. */
export type LineColours = readonly (readonly Span[])[]

/** The colours of the lines of a file. Undefined until they are found, or if its language is not known. */
export function useLineColours(path: string, text: string): LineColours | undefined {
  const [found, setFound] = useState<{ readonly text: string; readonly lines: LineColours }>()
  const language = extensionOf(path)
  useEffect(() => {
    if (language === '' || text === '') return
    let current = true
    void highlight(text, language).then((spans) => {
      if (current && spans) setFound({ text, lines: linesIn(spans) })
    })
    return () => void (current = false)
  }, [text, language])
  return found?.text === text ? found.lines : undefined
}

/** The highlighter knows languages by the usual extensions of their files. */
function extensionOf(path: string): string {
  return /\.(\w+)$/.exec(path)?.[1] ?? ''
}

/** Coloured pieces, by line. A piece of several lines, such as a comment, is in each of them. */
export function linesIn(spans: readonly Span[]): LineColours {
  const lines: Span[][] = [[]]
  for (const [kind, text] of spans)
    text.split('\n').forEach((part, at) => {
      if (at > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push([kind, part])
    })
  return lines
}

/** A piece of a line with its colour, and whether it is only on this side. Marked pieces have no colour: they could not be read. */
export interface ColouredPiece {
  readonly text: string
  readonly kind: string
  readonly changed: boolean
}

/** The pieces of a line, cut where its colour changes. */
export function colouredPieces(
  pieces: readonly { readonly text: string; readonly changed: boolean }[],
  spans: readonly Span[],
): readonly ColouredPiece[] {
  const coloured: ColouredPiece[] = []
  const left = spans.map(([kind, text]) => ({ kind, text }))
  for (const { text, changed } of pieces) {
    let rest = text
    while (rest !== '') {
      const [span] = left
      const part = span ? rest.slice(0, span.text.length) : rest
      coloured.push({ text: part, kind: changed ? '' : (span?.kind ?? ''), changed })
      rest = rest.slice(part.length)
      if (!span) continue
      span.text = span.text.slice(part.length)
      if (span.text === '') left.shift()
    }
  }
  return coloured
}
