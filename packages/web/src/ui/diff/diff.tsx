import { useMemo, useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { useLineColours } from '../highlight/line-colours.ts'
import { useSeenLines } from '../unseen.ts'
import { diffRows, diffText } from './diff-rows.ts'
import { DiffLine, GapLine } from './diff-line.tsx'

interface Props {
  /** The name of the file, which tells its language. */
  readonly path: string
  readonly before: string
  readonly after: string
  /** Number of rows that are shown until a person asks for all. */
  readonly max?: number
}

/** A short unified diff of two texts, for a quick look. */
export function Diff({ path, before, after, max = 60 }: Props) {
  const colours = { before: useLineColours(path, before), after: useLineColours(path, after) }
  const rows = useMemo(() => diffRows(diffText(before, after)), [before, after])
  const [all, setAll] = useState(false)
  const shown = all ? rows : rows.slice(0, max)
  const lines = useRef<HTMLDivElement>(null)
  useSeenLines(lines, rows.length - shown.length)
  return (
    <div class="diff" tabIndex={0} role="group" aria-label="Difference">
      <div ref={lines}>
        {shown.map((row, at) =>
          row.kind === 'line' ? (
            <DiffLine key={at} row={row} colours={colours} />
          ) : (
            row.kind === 'gap' && <GapLine key={at} row={row} />
          ),
        )}
      </div>
      {shown.length < rows.length && (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show {rows.length - shown.length} more lines
        </Button>
      )}
    </div>
  )
}
