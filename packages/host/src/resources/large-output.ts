import type { Uri } from '@atrium/protocol/channel'
import { fromBase64 } from '@atrium/protocol/text/base64'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { keepBytes } from './content.ts'
import type { Core } from '../core/core.ts'
import type { AgentAction } from '../ports/agent.ts'

/** Whether a tool's output is too large to stand in the state, which everyone is sent. */
export function isLarge(said: AgentAction, most: number): boolean {
  return contentOf(said).some((content) => lengthOf(content) > most)
}

/** The same with references in the place of what is large. That is durable before anybody is told of it. */
export async function externalized(core: Core, session: Uri, said: AgentAction): Promise<AgentAction> {
  const kept = await Promise.all(contentOf(said).map((content) => externalize(core, session, content)))
  if (said.type === 'chat/toolCallComplete') return { ...said, result: { ...said.result, content: kept } }
  return said.type === 'chat/toolCallContentChanged' ? { ...said, content: kept } : said
}

async function externalize(core: Core, session: Uri, content: ToolResultContent): Promise<ToolResultContent> {
  if (lengthOf(content) <= core.limits.inlineLength) return content
  if (content.type === 'text') {
    const bytes = new TextEncoder().encode(content.text)
    return { type: 'resource', ...(await keepBytes(core, session, bytes, 'text/plain; charset=utf-8')) }
  }
  const bytes = content.type === 'embeddedResource' ? fromBase64(content.data) : undefined
  if (content.type !== 'embeddedResource' || !bytes) return content
  return { type: 'resource', ...(await keepBytes(core, session, bytes, content.contentType)) }
}

/** It may be anything yet: what an agent says is judged later. */
function contentOf(said: AgentAction): readonly ToolResultContent[] {
  const { type, content, result } = (said ?? {}) as {
    readonly type?: unknown
    readonly content?: unknown
    readonly result?: { readonly content?: unknown } | null
  }
  const found =
    type === 'chat/toolCallComplete'
      ? result?.content
      : type === 'chat/toolCallContentChanged'
        ? content
        : undefined
  return Array.isArray(found) ? (found as readonly ToolResultContent[]) : []
}

function lengthOf(content: ToolResultContent | null): number {
  const { text, data } = (content ?? {}) as { readonly text?: unknown; readonly data?: unknown }
  return Math.max(...[text, data].map((each) => (typeof each === 'string' ? each.length : 0)))
}
