import type { CallToolResult } from '@modelcontextprotocol/client'
import type { McpResult } from '@atrium/host/ports/mcp'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { isJsonObject } from '@atrium/protocol/json'
import { visibleText } from '@atrium/protocol/text/visible'
import { blockContent } from './shapes/content.ts'
import type { ContentBlock } from './shapes/content.ts'
import type { McpLimits } from './context.ts'
import { isShallow } from './tools.ts'

/** Converts the result of a tool to AHP. What is too long is left out, and a text at the end says so. */
export function resultOf(
  { content: blocks = [], structuredContent: structured, isError = false }: Partial<CallToolResult>,
  limits: McpLimits,
): McpResult {
  const content: ToolResultContent[] = []
  let left = limits.mcpResultLength
  let isComplete = true
  for (const each of blocks.flatMap((block) => blockContent(withVisibleUri(block)))) {
    const fitting = shortened(each, left)
    isComplete &&= fitting === each
    if (!fitting) continue
    content.push(fitting)
    left -= lengthOf(fitting)
  }
  const isObject = isJsonObject(structured) && isShallow(structured, limits.mcpSchemaDepth)
  const fits = isObject && JSON.stringify(structured).length <= left
  if (structured !== undefined && !fits) isComplete = false
  if (!isComplete) content.push({ type: 'text', text: `(${tooLong})` })
  return {
    success: !isError,
    ...(content.length > 0 && { content }),
    ...(fits && { structuredContent: structured }),
    ...(isError && { error: { message: errorText(content) } }),
  }
}

/** Returns as much of a content as fits. Only text can be cut. */
function shortened(content: ToolResultContent, length: number): ToolResultContent | undefined {
  if (lengthOf(content) <= length) return content
  return content.type === 'text' && length > 0
    ? { type: 'text', text: content.text.slice(0, length) }
    : undefined
}

function lengthOf(content: ToolResultContent): number {
  if (content.type === 'text') return content.text.length
  return content.type === 'embeddedResource' ? content.data.length : JSON.stringify(content).length
}

/**
 * Removes hidden characters and spaces from the URI of a block, because users see it, and clients open what it names.
 */
function withVisibleUri(block: ContentBlock): ContentBlock {
  return typeof block.uri === 'string' ? { ...block, uri: visibleText(block.uri).replace(/\s/g, '') } : block
}

function errorText(content: readonly ToolResultContent[]): string {
  const text = content.find((each) => each.type === 'text')?.text ?? ''
  return visibleText(text.slice(0, maxErrorLength)).trim() || 'the tool failed without saying why'
}

const tooLong = 'A part of the result was too long or could not be shown, and was left out.'
const maxErrorLength = 1000
