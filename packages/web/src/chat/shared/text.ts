import type { StringOrMarkdown } from '@atrium/protocol/common/content'

/** A message of the host as one string. Markdown is returned with its marks. */
export function plainText(text: StringOrMarkdown | undefined): string {
  return typeof text === 'object' ? text.markdown : (text ?? '')
}

/** A text without characters that hide or reorder others: for names and titles, which people judge by their look. */
export function visibleText(text: string): string {
  return text.replaceAll(
    /[\u0000-\u0008\u000b-\u001f\u007f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    '',
  )
}
