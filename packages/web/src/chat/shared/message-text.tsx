import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import { InlineMarkdown } from '../../markdown/inline-markdown.tsx'
import { visibleText } from './text.ts'

/** A message of the host in its form: Markdown as such, and plain text as it is, backticks included. */
export function MessageText({ text }: { readonly text: StringOrMarkdown }) {
  return typeof text === 'string' ? (
    <>{visibleText(text)}</>
  ) : (
    <InlineMarkdown text={visibleText(text.markdown)} />
  )
}
