import { useMemo, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { diffRows, diffText } from './diff-rows.ts'
import { DiffLine, GapLine } from './diff-line.tsx'

interface Props {
  readonly before: string
  readonly after: string
  /** Number of rows that are shown until a person asks for all. */
  readonly max?: number
}

/** A short unified diff of two texts, for a quick look. */
export function Diff({ before, after, max = 60 }: Props) {
  const rows = useMemo(() => diffRows(diffText(before, after)), [before, after])
  const [all, setAll] = useState(false)
  const shown = all ? rows : rows.slice(0, max)
  return (
    <div class="diff" tabIndex={0} role="group" aria-label="Difference">
      {shown.map((row, at) =>
        row.kind === 'line' ? (
          <DiffLine key={at} row={row} />
        ) : (
          row.kind === 'gap' && <GapLine key={at} row={row} />
        ),
      )}
      {shown.length < rows.length && (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show {rows.length - shown.length} more lines
        </Button>
      )}
    </div>
  )
}
