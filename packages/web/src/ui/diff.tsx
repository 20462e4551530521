import { useMemo, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { diffRows } from './diff-rows.ts'
import type { DiffRow } from './diff-rows.ts'
import { withVisibleControls } from './visible-controls.ts'

interface Props {
  readonly before: string
  readonly after: string
  /** Number of rows that are shown until a person asks for all. */
  readonly max?: number
}

const signs = { same: ' ', added: '+', removed: '-', gap: '⋯' } as const

/** A unified diff of two texts. */
export function Diff({ before, after, max = 60 }: Props) {
  const rows = useMemo(() => diffRows(before, after), [before, after])
  const [all, setAll] = useState(false)
  const shown = all ? rows : rows.slice(0, max)
  return (
    <div class="diff" tabIndex={0} role="region" aria-label="Difference">
      {shown.map((row, at) => (
        <Row key={at} row={row} />
      ))}
      {shown.length < rows.length && (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show {rows.length - shown.length} more lines
        </Button>
      )}
    </div>
  )
}

function Row({ row: { kind, text, before, after } }: { readonly row: DiffRow }) {
  return (
    <div class={`diff-row ${kind}`}>
      <span class="diff-number">{before}</span>
      <span class="diff-number">{after}</span>
      <span class="diff-sign">{signs[kind]}</span>
      <span class="diff-text">{withVisibleControls(text)}</span>
    </div>
  )
}
