import { useState } from 'preact/hooks'
import { outputPieces } from '../../ui/ansi.ts'
import { Button } from '../../ui/button.tsx'
import { withVisibleControls } from '../../ui/visible-controls.ts'

/** The lines of an output that are shown without a button for all of them. */
const lastLines = 16

/** The text output of a tool, in its colours. Shows its last lines, and a button for the earlier ones. */
export function Output({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false)
  const lines = text.replace(/\n$/, '').split('\n')
  const hidden = all ? 0 : Math.max(0, lines.length - lastLines)
  if (text.trim() === '') return null
  return (
    <div class="output">
      {hidden > 0 && (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show {hidden} earlier {hidden === 1 ? 'line' : 'lines'}
        </Button>
      )}
      <pre tabIndex={0}>
        {outputPieces(lines.slice(hidden).join('\n')).map(({ text: piece, look }, at) =>
          look === '' ? (
            withVisibleControls(piece)
          ) : (
            <span key={at} class={look}>
              {withVisibleControls(piece)}
            </span>
          ),
        )}
      </pre>
    </div>
  )
}
