import type { PendingMessage } from '@atrium/protocol/chat/message'

/** Data that this agent stores in `_meta` of its actions. The agent needs the data to resume a turn. */
export interface AgentMeta {
  /**
   * In a tool call: the number of parts of the turn when the request began. Calls of the same response have the same value.
   */
  readonly step?: number
  /** In a call of an offered tool: the name by which the model knows the tool. */
  readonly offered?: string
  /** In a notification: the steering message that the notification shows. */
  readonly steering?: PendingMessage
  /** In a notification: a summary of all turns up to and including the turn with the id `upTo`. */
  readonly summary?: string
  readonly upTo?: string
  /** In a usage: the number of input and output tokens of the last request. */
  readonly context?: number
  /** In a usage: whether the model finished the turn. */
  readonly done?: boolean
  /** In a usage: the cost of the turn, in dollars. */
  readonly cost?: number
}

const key = 'x-atrium'

export function toMeta(meta: AgentMeta): { readonly _meta: { readonly [key: string]: unknown } } {
  return { _meta: { [key]: meta } }
}

/** Reads the data that `toMeta` wrote. The content is not checked, because only agents can write these actions. */
export function metaOf(
  holder: { readonly _meta?: { readonly [key: string]: unknown } | undefined } | undefined,
): AgentMeta {
  const meta = holder?._meta?.[key]
  return typeof meta === 'object' && meta !== null ? meta : {}
}
