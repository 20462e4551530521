import { useEffect, useState } from 'preact/hooks'
import { Copy } from '../ui/copy.tsx'
import { withVisibleControls } from '../ui/visible-controls.ts'
import { highlight } from '../ui/highlight/highlight.ts'
import type { Span } from '../ui/highlight/highlight-spans.ts'

interface Props {
  readonly language: string
  readonly text: string
  /** Whether the block still grows. It gets its colours when it is complete. */
  readonly open: boolean
}

/** A block of code, with its language and a button that copies it. */
export function CodeBlock({ language, text: code, open }: Props) {
  const text = withVisibleControls(code)
  const [spans, setSpans] = useState<readonly Span[]>()
  const [name = ''] = language.split(/[\s{]/, 1)
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
        <span>{name === '' ? 'text' : name}</span>
        <Copy text={code} label="Copy the code" />
      </figcaption>
      <pre tabIndex={0}>
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
