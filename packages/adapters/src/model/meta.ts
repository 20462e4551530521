import type { PendingMessage } from '@atrium/protocol/chat/message'

/** Data that this agent stores in `_meta` of its actions and needs when it resumes a turn. */
export interface AgentMeta {
  /** Of a tool call: the part count at the start of its request. Calls of one response have the same step. */
  readonly step?: number
  /** Of a notification: the steering message that it shows. */
  readonly steering?: PendingMessage
  /** Of a notification: a summary of all turns up to and including the turn `upTo`. */
  readonly summary?: string
  readonly upTo?: string
  /** Of a usage: the input and output tokens of the last request. */
  readonly context?: number
  /** Of a usage: whether the model finished the turn. */
  readonly done?: boolean
  /** Of a usage: the cost of the turn, in dollars. */
  readonly cost?: number
}

const key = 'x-atrium'

export function toMeta(meta: AgentMeta): { readonly _meta: { readonly [key: string]: unknown } } {
  return { _meta: { [key]: meta } }
}

/** Reads the data back. The content is not checked, because only agents can write these actions. */
export function metaOf(
  holder: { readonly _meta?: { readonly [key: string]: unknown } | undefined } | undefined,
): AgentMeta {
  const meta = holder?._meta?.[key]
  return typeof meta === 'object' && meta !== null ? meta : {}
}
