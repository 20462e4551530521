import { isAbsolute, resolve } from 'node:path'
import type { Chat } from '@atrium/host/ports/agent'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import type { FileEdit, FileEditSide } from '@atrium/protocol/common/content'
import { fileUri } from '@atrium/protocol/file-uri'
import { writeIn } from './preview.ts'
import { outputText } from './tool-call.ts'
import type { ToolCall } from './tool-call.ts'
import type { ToolCallContent } from '../process/schema.ts'
import { blockContent } from '../../mcp/shapes/content.ts'

/** A function that returns the content which shows a terminal. The terminal id is the agent's. */
export type TerminalContent = (terminalId: string) => readonly ToolResultContent[]

/**
 * Converts the content of a tool call to AHP, and adds the output of the call as text. File contents are stored with the
 * session.
 */
export async function resultContent(
  { content, output, rawOutput }: ToolCall,
  chat: Chat,
  cwd: string,
  terminalContent: TerminalContent,
): Promise<ToolResultContent[]> {
  const converted: ToolResultContent[] = []
  for (const item of content) {
    if (item.type === 'content' && item.content) converted.push(...blockContent(item.content))
    if (item.type === 'terminal') converted.push(...terminalContent(item.terminalId ?? ''))
    const edit = await fileEdit(item, chat, cwd)
    if (edit) converted.push({ type: 'fileEdit', ...edit })
  }
  if (output !== '') return [...converted, { type: 'text', text: output }]
  if (converted.length > 0 || rawOutput === undefined || rawOutput === null) return converted
  const text = outputText(rawOutput)
  return text === '' ? [] : [{ type: 'text', text }]
}

/**
 * Returns the file changes of a tool call, for the approval of users: its diffs. If there are none, the host makes the
 * diff from the input of the call.
 */
export async function shownEdits(call: ToolCall, chat: Chat, cwd: string): Promise<readonly FileEdit[]> {
  const edits: FileEdit[] = []
  for (const item of call.content) {
    const edit = await fileEdit(item, chat, cwd)
    if (edit) edits.push(edit)
  }
  const write = edits.length > 0 ? undefined : writeIn(call)
  if (!write) return edits
  // An input that fits no file is shown as it is.
  return chat.files.propose(resolve(cwd, write.path), write.edit).then(
    (edit) => [edit],
    () => [],
  )
}

async function fileEdit(item: ToolCallContent, chat: Chat, cwd: string): Promise<FileEdit | undefined> {
  if (item.type !== 'diff' || typeof item.path !== 'string') return undefined
  const uri = fileUri(isAbsolute(item.path) ? item.path : resolve(cwd, item.path))
  const side = async (text: string): Promise<FileEditSide> => ({
    uri,
    content: await chat.keep(new TextEncoder().encode(text), 'text/plain; charset=utf-8', uri),
  })
  const { oldText, newText } = item
  return {
    // Some agents send an empty old text for a file that does not exist yet. Then there is no `before`.
    ...(typeof oldText === 'string' && oldText !== '' && { before: await side(oldText) }),
    ...(typeof newText === 'string' && { after: await side(newText) }),
  }
}
