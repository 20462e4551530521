import { Lexer } from 'marked'
import { useMemo } from 'preact/hooks'
import { Inline } from './inline.tsx'

/** A short text in Markdown on one line, such as the title of a tool call. */
export function InlineMarkdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => Lexer.lexInline(text), [text])
  return (
    <span class="markdown-line">
      <Inline tokens={tokens} />
    </span>
  )
}
