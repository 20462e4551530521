import { useMemo } from 'preact/hooks'
import { colouredPieces } from '../highlight/line-colours.ts'
import type { LineColours } from '../highlight/line-colours.ts'
import type { Span } from '../highlight/highlight-spans.ts'
import { withVisibleControls } from '../visible-controls.ts'
import type { DiffCell, GapRow, LineRow } from './diff-rows.ts'
import { linePieces } from './word-marks.ts'

/** The colours of both sides of a diff, as far as they are known. */
export interface DiffColours {
  readonly before: LineColours | undefined
  readonly after: LineColours | undefined
}

interface Props {
  readonly row: LineRow
  readonly colours?: DiffColours | undefined
  readonly split?: boolean
  /**
   * Called when a person clicks on a line number of the later side. If it is given, the numbers are buttons, which
   * Tab skips.
   */
  readonly onLine?: ((line: number) => void) | undefined
}

/** A line of a diff: in one column, or with both sides beside each other. */
export function DiffLine({ row, colours, split = false, onLine }: Props) {
  const { same, before, after } = row
  const old = before && colours?.before?.[before.line]
  const now = after && colours?.after?.[after.line]
  if (split)
    return (
      <div class="diff-row split">
        <Side cell={before} spans={old} sign={same ? ' ' : '-'} look={same ? 'same' : 'removed'} />
        <Side
          cell={after}
          spans={now}
          sign={same ? ' ' : '+'}
          look={same ? 'same' : 'added'}
          onLine={onLine}
        />
      </div>
    )
  const look = same ? 'same' : after ? 'added' : 'removed'
  return (
    <div class={`diff-row ${look}`}>
      <span class="diff-number">{before && before.line + 1}</span>
      <Number cell={after} onLine={onLine} />
      <Text cell={after ?? before} spans={after ? now : old} sign={same ? ' ' : after ? '+' : '-'} />
    </div>
  )
}

interface SideProps extends Pick<Props, 'onLine'> {
  readonly cell: DiffCell | undefined
  readonly spans: readonly Span[] | undefined
  readonly sign: string
  readonly look: string
}

function Side({ cell, spans, sign, look, onLine }: SideProps) {
  return (
    <div class={`diff-side ${cell ? look : 'none'}`}>
      <Number cell={cell} onLine={onLine} />
      <Text cell={cell} spans={spans} sign={cell ? sign : ' '} />
    </div>
  )
}

function Number({ cell, onLine }: Pick<SideProps, 'cell' | 'onLine'>) {
  if (!cell || !onLine) return <span class="diff-number">{cell && cell.line + 1}</span>
  return (
    <button
      type="button"
      class="diff-number"
      tabIndex={-1}
      aria-label={`Comment on line ${cell.line + 1}`}
      onClick={() => onLine(cell.line)}
    >
      {cell.line + 1}
    </button>
  )
}

function Text({ cell, spans, sign }: Pick<SideProps, 'cell' | 'spans' | 'sign'>) {
  const text = cell?.text ?? ''
  const ended = cell === undefined || text.endsWith('\n')
  return (
    <>
      <span class="diff-sign">{sign}</span>
      <span class="diff-text">
        <Pieces line={withoutEnd(text)} other={cell?.other} spans={spans} />
        {!ended && sign !== ' ' && <em class="diff-unended"> (no line end)</em>}
      </span>
    </>
  )
}

interface PiecesProps {
  readonly line: string
  readonly other: string | undefined
  readonly spans: readonly Span[] | undefined
}

/** The text of a line, coloured. Words that are not in the line on the other side are marked. */
function Pieces({ line, other, spans }: PiecesProps) {
  const marked = useMemo(
    () => (other === undefined ? undefined : linePieces(line, withoutEnd(other))),
    [line, other],
  )
  if (!marked && !spans) return <>{withVisibleControls(line)}</>
  return (
    <>
      {colouredPieces(marked ?? [{ text: line, changed: false }], spans ?? []).map(
        ({ text, kind, changed }, at) =>
          changed || kind !== '' ? (
            <span key={at} class={changed ? 'diff-word' : `hl-${kind}`}>
              {withVisibleControls(text)}
            </span>
          ) : (
            withVisibleControls(text)
          ),
      )}
    </>
  )
}

function withoutEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}

interface GapProps {
  readonly row: GapRow
  readonly onOpen?: () => void
}

/** Lines that are left out, which a person may ask for. */
export function GapLine({ row: { count }, onOpen }: GapProps) {
  const words = count === 1 ? '1 line' : `${count} lines`
  return (
    <div class="diff-gap">
      {onOpen ? (
        <button type="button" onClick={onOpen}>
          ⋯ Show {words}
        </button>
      ) : (
        `⋯ ${words}`
      )}
    </div>
  )
}
