import type { Uri } from '@atrium/protocol/channel'
import { fromBase64 } from '@atrium/protocol/text/base64'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import type { ContentRef } from '@atrium/protocol/common/content'
import { keepBytes } from './content.ts'
import type { Core } from '../../kernel/core.ts'
import type { AgentAction } from '../../ports/agent.ts'

/** The longest output and the longest input of a tool that stay in the state. In characters. */
export interface InlineLengths {
  readonly output: number
  readonly input: number
}

/** Returns whether a tool's output or input is too large for the state, which every subscriber is sent. */
export function isLarge(action: AgentAction, max: InlineLengths): boolean {
  const output = contentOf(action).reduce((sum, content) => sum + lengthOf(content), 0)
  return output > max.output || inputLength(action) > max.input
}

/** Returns the action with large content replaced by references. The content is durable before the action is appended. */
export async function externalized(
  core: Core,
  session: Uri,
  action: AgentAction,
  max: InlineLengths,
): Promise<AgentAction> {
  const keep: Keep = (bytes, contentType) => keepBytes(core, session, bytes, contentType)
  if (action.type === 'chat/toolCallReady') {
    const { toolInput } = action
    if (typeof toolInput !== 'string' || toolInput.length <= max.input) return action
    return { ...action, toolInput: await keepText(toolInput, keep) }
  }
  let left = max.output
  const kept: ToolResultContent[] = []
  for (const content of contentOf(action)) {
    kept.push(await keepContent(content, left, keep))
    left = Math.max(0, left - lengthOf(content))
  }
  if (action.type === 'chat/toolCallComplete')
    return { ...action, result: { ...action.result, content: kept } }
  return action.type === 'chat/toolCallContentChanged' ? { ...action, content: kept } : action
}

/** Stores bytes outside the state, and returns a reference to them. */
export type Keep = (bytes: Uint8Array, contentType: string) => Promise<ContentRef>

/** Returns a tool's content, or a reference to it if the content is longer than `max`. */
export async function keepContent(
  content: ToolResultContent,
  max: number,
  keep: Keep,
): Promise<ToolResultContent> {
  if (lengthOf(content) <= max) return content
  if (content.type === 'text') return { type: 'resource', ...(await keepText(content.text, keep)) }
  const bytes = content.type === 'embeddedResource' ? fromBase64(content.data) : undefined
  if (content.type !== 'embeddedResource' || !bytes) return content
  return { type: 'resource', ...(await keep(bytes, content.contentType)) }
}

export function keepText(text: string, keep: Keep, type = 'text/plain'): Promise<ContentRef> {
  return keep(new TextEncoder().encode(text), `${type}; charset=utf-8`)
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

/** Returns the length of a tool's input. An input that is a reference has the length 0. */
function inputLength(action: unknown): number {
  const { type, toolInput } = fieldsOf(action)
  return type === 'chat/toolCallReady' && typeof toolInput === 'string' ? toolInput.length : 0
}

function lengthOf(content: unknown): number {
  const { text, data } = fieldsOf(content)
  return Math.max(...[text, data].map((each) => (typeof each === 'string' ? each.length : 0)))
}

function fieldsOf(value: unknown): { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
