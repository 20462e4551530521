import type { Uri } from '@atrium/protocol/channel'
import { fromBase64 } from '@atrium/protocol/text/base64'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { keepBytes } from './content.ts'
import type { Core } from '../core/core.ts'
import type { AgentAction } from '../ports/agent.ts'

/** Returns whether a tool's output is too large for the state, which every subscriber is sent. */
export function isLarge(action: AgentAction, max: number): boolean {
  return contentOf(action).some((content) => lengthOf(content) > max)
}

/** Returns the action with large content replaced by references. The content is durable before the action is appended. */
export async function externalized(core: Core, session: Uri, action: AgentAction): Promise<AgentAction> {
  const kept = await Promise.all(contentOf(action).map((content) => externalize(core, session, content)))
  if (action.type === 'chat/toolCallComplete')
    return { ...action, result: { ...action.result, content: kept } }
  return action.type === 'chat/toolCallContentChanged' ? { ...action, content: kept } : action
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

/** Returns the content of a tool's output. No schema has checked the action yet, so it may be any value. */
function contentOf(action: unknown): readonly ToolResultContent[] {
  const { type, content, result } = fieldsOf(action)
  const found =
    type === 'chat/toolCallComplete'
      ? fieldsOf(result)['content']
      : type === 'chat/toolCallContentChanged'
        ? content
        : undefined
  return Array.isArray(found) ? found : []
}

function lengthOf(content: unknown): number {
  const { text, data } = fieldsOf(content)
  return Math.max(...[text, data].map((each) => (typeof each === 'string' ? each.length : 0)))
}

function fieldsOf(value: unknown): { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
