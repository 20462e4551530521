import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import { InlineMarkdown } from '../../markdown/inline-markdown.tsx'
import { visibleText } from './text.ts'

/** A message of the host. Markdown is drawn with its formatting; plain text stays as it is, with all its backticks. */
export function MessageText({ text }: { readonly text: StringOrMarkdown }) {
  return typeof text === 'string' ? (
    <>{visibleText(text)}</>
  ) : (
    <InlineMarkdown text={visibleText(text.markdown)} />
  )
}
