import { WrapText } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { useStored } from '../ui/use-stored.ts'
import { withVisibleControls } from '../ui/visible-controls.ts'
import { highlight } from '../ui/highlight/highlight.ts'
import type { Span } from '../ui/highlight/highlight-spans.ts'

interface Props {
  readonly language: string
  readonly text: string
  /** Whether the block still grows. It gets its colours when it is complete. */
  readonly open: boolean
}

/** A block of code, with its language, the name of its file, and buttons that wrap its lines and copy it. */
export function CodeBlock({ language, text: code, open }: Props) {
  const text = withVisibleControls(code)
  const [spans, setSpans] = useState<readonly Span[]>()
  const [name = '', about = ''] = language.split(/[\s{]+/, 2)
  const [wrap, setWrap] = useStored('code-lines', ['scroll', 'wrap'])
  useEffect(() => {
    if (open || name === '') return
    let current = true
    void highlight(text, name).then((found) => {
      if (current && found) setSpans(found)
    })
    return () => void (current = false)
  }, [text, name, open])
  return (
    <figure class="code">
      <figcaption>
        <span class="code-name">
          {name === '' ? 'text' : name}
          {isFileName(about) && ` · ${withVisibleControls(about)}`}
        </span>
        <Button
          icon={WrapText}
          label="Wrap long lines"
          look="quiet"
          pressed={wrap === 'wrap'}
          onClick={() => setWrap(wrap === 'wrap' ? 'scroll' : 'wrap')}
        />
        <Copy text={code} label="Copy the code" />
      </figcaption>
      <pre tabIndex={0} class={wrap}>
        <code>
          {spans
            ? spans.map(([kind, part], at) =>
                kind === '' ? (
                  part
                ) : (
                  <span key={at} class={`hl-${kind}`}>
                    {part}
                  </span>
                ),
              )
            : text}
        </code>
      </pre>
    </figure>
  )
}

/** Whether the word after the language names a file, as in "ts src/app.ts". Other words there are for other programs. */
function isFileName(word: string): boolean {
  return /^[\w@.-]*[/.][\w@./-]+$/.test(word)
}
