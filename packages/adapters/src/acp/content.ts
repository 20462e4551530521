import { isAbsolute, resolve } from 'node:path'
import type { Chat } from '@atrium/host/ports/agent'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { fileUri } from '@atrium/protocol/file-uri'
import type { CallContent, ContentBlock } from './process/schema.ts'

/** Which terminal of ours an agent means. */
export type TerminalOf = (terminalId: string) => readonly ToolResultContent[]

/** What a tool call shows, in the words of a chat. What it says of a file is kept with the session. */
export async function contentOf(
  items: readonly CallContent[],
  chat: Chat,
  cwd: string,
  terminalOf: TerminalOf,
): Promise<readonly ToolResultContent[]> {
  const shown: ToolResultContent[] = []
  for (const item of items) {
    if (item.type === 'content' && item.content) shown.push(...blockContent(item.content))
    if (item.type === 'terminal') shown.push(...terminalOf(item.terminalId ?? ''))
    const edit = await editOf(item, chat, cwd)
    if (edit) shown.push({ type: 'fileEdit', ...edit })
  }
  return shown
}

/** What a call would change, for those who are asked. */
export async function editsOf(
  items: readonly CallContent[],
  chat: Chat,
  cwd: string,
): Promise<readonly FileEdit[]> {
  const edits: FileEdit[] = []
  for (const item of items) {
    const edit = await editOf(item, chat, cwd)
    if (edit) edits.push(edit)
  }
  return edits
}

async function editOf(item: CallContent, chat: Chat, cwd: string): Promise<FileEdit | undefined> {
  if (item.type !== 'diff' || typeof item.path !== 'string') return undefined
  const uri = fileUri(isAbsolute(item.path) ? item.path : resolve(cwd, item.path))
  const side = async (text: string): Promise<FileEditSide> => ({
    uri,
    content: await chat.keep(new TextEncoder().encode(text), 'text/plain; charset=utf-8'),
  })
  const { oldText, newText } = item
  return {
    ...(typeof oldText === 'string' && { before: await side(oldText) }),
    ...(typeof newText === 'string' && { after: await side(newText) }),
  }
}

function blockContent(block: ContentBlock): readonly ToolResultContent[] {
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' && block.text !== '' ? [{ type: 'text', text: block.text }] : []
    case 'image':
    case 'audio':
      return isText(block.data) && isText(block.mimeType)
        ? [{ type: 'embeddedResource', data: block.data, contentType: block.mimeType }]
        : []
    case 'resource_link':
      return isText(block.uri) ? [{ type: 'resource', uri: block.uri }] : []
    case 'resource': {
      const { text, blob, mimeType } = block.resource ?? {}
      if (typeof text === 'string') return [{ type: 'text', text }]
      const contentType = mimeType ?? 'application/octet-stream'
      return isText(blob) ? [{ type: 'embeddedResource', data: blob, contentType }] : []
    }
    default:
      return []
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
