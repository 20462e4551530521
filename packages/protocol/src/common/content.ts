import { array, jsonObject, either, id, number, object, openEnum, optional, string } from '../schema.ts'
import type { Infer, Schema } from '../schema.ts'

/** Metadata of any form, which the protocol passes on unchanged. */
export const meta = { _meta: optional(jsonObject) }

const markdown = { markdown: string }
export interface Markdown extends Infer<typeof markdown> {}
export const Markdown = object<Markdown>('Markdown', markdown)

export type StringOrMarkdown = string | Markdown
export const StringOrMarkdown: Schema<StringOrMarkdown> = either(string, Markdown, 'StringOrMarkdown')

/**
 * A text for users: Markdown if it has code in backticks, otherwise a plain string. Clients show a plain string as it is,
 * backticks included.
 */
export function messageOf(text: string): StringOrMarkdown {
  return text.includes('`') ? { markdown: text } : text
}

/** The text of a message. */
export function textOf(message: StringOrMarkdown | undefined): string {
  return typeof message === 'object' ? message.markdown : (message ?? '')
}

const icon = {
  src: id,
  contentType: optional(string),
  sizes: optional(array(string)),
  theme: optional(openEnum('IconTheme', ['light', 'dark'])),
}
export interface Icon extends Infer<typeof icon> {}
export const Icon = object<Icon>('Icon', icon)

const contentRef = {
  uri: id,
  sizeHint: optional(number),
  contentType: optional(string),
  nonce: optional(string),
}
/** A reference to content, which is read with `resourceRead`. */
export interface ContentRef extends Infer<typeof contentRef> {}
export const ContentRef = object<ContentRef>('ContentRef', contentRef)
export const contentRefShape = contentRef

const fileEditSide = { uri: id, content: ContentRef }
export interface FileEditSide extends Infer<typeof fileEditSide> {}
export const FileEditSide = object<FileEditSide>('FileEditSide', fileEditSide)

const diffCounts = { added: optional(number), removed: optional(number) }
export interface DiffCounts extends Infer<typeof diffCounts> {}
export const DiffCounts = object<DiffCounts>('FileEditDiff', diffCounts)

const fileEdit = {
  before: optional(FileEditSide),
  after: optional(FileEditSide),
  diff: optional(DiffCounts),
}
export interface FileEdit extends Infer<typeof fileEdit> {}
export const FileEdit = object<FileEdit>('FileEdit', fileEdit)
export const fileEditShape = fileEdit

const fileEditCollection = { items: array(FileEdit) }
export interface FileEditCollection extends Infer<typeof fileEditCollection> {}
export const FileEditCollection = object<FileEditCollection>('FileEditCollection', fileEditCollection)

const errorInfo = { errorType: string, message: string, stack: optional(string), ...meta }
export interface ErrorInfo extends Infer<typeof errorInfo> {}
export const ErrorInfo = object<ErrorInfo>('ErrorInfo', errorInfo)

const usageInfo = {
  inputTokens: optional(number),
  outputTokens: optional(number),
  model: optional(string),
  cacheReadTokens: optional(number),
  ...meta,
}
export interface UsageInfo extends Infer<typeof usageInfo> {}
export const UsageInfo = object<UsageInfo>('UsageInfo', usageInfo)

const changesSummary = { additions: optional(number), deletions: optional(number), files: optional(number) }
export interface ChangesSummary extends Infer<typeof changesSummary> {}
export const ChangesSummary = object<ChangesSummary>('ChangesSummary', changesSummary)

/** An empty object whose presence means "supported". */
export const presence: Schema<Record<never, never>> = object('Presence', {})
