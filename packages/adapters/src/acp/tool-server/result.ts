import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Chat, EndedCall } from '@atrium/host/ports/agent'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { textOf } from '@atrium/protocol/common/content'

type Block = CallToolResult['content'][number]

/** Converts a call that has ended to a result of MCP. */
export async function resultOf(call: EndedCall, chat: Pick<Chat, 'read'>): Promise<CallToolResult> {
  if (call.status === 'cancelled') return { content: [text(cancellation(call))], isError: true }
  const content: Block[] = []
  for (const each of call.content ?? []) content.push(...(await blocksOf(each, chat)))
  if (content.length === 0 && call.structuredContent)
    content.push(text(JSON.stringify(call.structuredContent)))
  if (!call.success) {
    content.push(text(`Failed: ${call.error?.message ?? textOf(call.pastTenseMessage)}`))
    return { content, isError: true }
  }
  return { content: content.length > 0 ? content : [text(textOf(call.pastTenseMessage))] }
}

async function blocksOf(content: ToolResultContent, chat: Pick<Chat, 'read'>): Promise<readonly Block[]> {
  switch (content.type) {
    case 'text':
      return [text(content.text)]
    case 'embeddedResource':
      return [embedded(content.data, content.contentType)]
    case 'resource': {
      const { uri } = content
      const stored = await chat.read({ type: 'resource', label: 'result', uri }).catch(() => undefined)
      if (!stored) return [text('(This is kept no more.)')]
      if (stored.encoding === 'utf-8') return [text(stored.data)]
      return [embedded(stored.data, stored.contentType ?? 'application/octet-stream')]
    }
    default:
      return []
  }
}

function embedded(data: string, contentType: string): Block {
  const mimeType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType }
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType }
  if (mimeType.startsWith('text/')) return text(Buffer.from(data, 'base64').toString('utf8'))
  return { type: 'resource', resource: { uri: 'atrium:/result', blob: data, mimeType } }
}

function cancellation({
  reason,
  reasonMessage,
}: Extract<EndedCall, { readonly status: 'cancelled' }>): string {
  if (reason === 'skipped')
    return 'This was interrupted: it is not known what it has done. Look before you do it again.'
  if (reason === 'result-denied') return 'This was done, but the user did not allow you to see the result.'
  const why = reasonMessage === undefined ? '' : ` The reason: ${textOf(reasonMessage)}`
  return `The user did not allow this, and it was not done.${why}`
}

function text(value: string): Block {
  return { type: 'text', text: value }
}
