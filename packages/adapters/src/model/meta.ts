import type { PendingMessage } from '@atrium/protocol/chat/message'
import type { ChatState } from '@atrium/protocol/chat/state'

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
  /**
   * In a usage, and in the notification about the project's instructions: a digest of these instructions. Empty:
   * there are no instructions any more.
   */
  readonly instructions?: string
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

/**
 * Returns the digest of the instructions that users of a chat were last told of. Empty if there were none. Each usage has the
 * digest, so that the newest turns suffice to find it.
 */
export function knownInstructions({ activeTurn, turns }: Pick<ChatState, 'activeTurn' | 'turns'>): string {
  for (const { responseParts, usage } of [...(activeTurn ? [activeTurn] : []), ...turns.toReversed()]) {
    const told = responseParts.findLast(
      (part) => part.kind === 'systemNotification' && metaOf(part).instructions !== undefined,
    )
    if (told?.kind === 'systemNotification') return metaOf(told).instructions ?? ''
    if (metaOf(usage).context !== undefined) return metaOf(usage).instructions ?? ''
  }
  return ''
}
