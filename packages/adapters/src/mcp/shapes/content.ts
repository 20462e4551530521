import type { ToolResultContent } from '@atrium/protocol/chat/tool'

/** A content block of MCP. ACP has the same blocks. Peers send them, so every member may be missing. */
export interface ContentBlock {
  readonly type?: string
  readonly text?: string
  readonly data?: string
  readonly mimeType?: string | null | undefined
  readonly uri?: string | null
  readonly resource?: {
    readonly text?: string
    readonly blob?: string
    readonly mimeType?: string | null | undefined
  }
}

/** Converts a content block to the content of a tool result. A block of an unknown type has none. */
export function blockContent(block: ContentBlock): readonly ToolResultContent[] {
  const { type, text, data, mimeType, uri, resource = {} } = block
  switch (type) {
    case 'text':
      return isNonEmpty(text) ? [{ type: 'text', text }] : []
    case 'image':
    case 'audio':
      return isNonEmpty(data) && isNonEmpty(mimeType)
        ? [{ type: 'embeddedResource', data, contentType: mimeType }]
        : []
    case 'resource_link':
      return isNonEmpty(uri) ? [{ type: 'resource', uri }] : []
    case 'resource': {
      if (typeof resource.text === 'string') return [{ type: 'text', text: resource.text }]
      const contentType = resource.mimeType ?? 'application/octet-stream'
      return isNonEmpty(resource.blob) ? [{ type: 'embeddedResource', data: resource.blob, contentType }] : []
    }
    default:
      return []
  }
}

function isNonEmpty(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
