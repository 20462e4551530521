import type { ResponsePart } from '@atrium/protocol/chat/state'
import { textOf } from '@atrium/protocol/common/content'

/** A refused tool call, as a text for the agent. */
export interface Refusal {
  /** The id of the call. */
  readonly id: string
  readonly text: string
}

/**
 * Returns the refusals with a reason that the agent was not told yet. ACP has no place for the reason in the answer to a
 * permission request. The reason of an offered tool's refusal is in the result of the call.
 */
export function refusalsIn(parts: readonly ResponsePart[], told: ReadonlySet<string>): readonly Refusal[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'toolCall' || part.toolCall.status !== 'cancelled') return []
    const { toolCallId: id, reason, reasonMessage, contributor } = part.toolCall
    const why = reasonMessage === undefined ? '' : textOf(reasonMessage).trim()
    if (reason !== 'denied' || why === '' || contributor || told.has(id)) return []
    const title = textOf(part.toolCall.invocationMessage) || part.toolCall.displayName
    return [{ id, text: `I refused: ${title.slice(0, maxTitle)}. My reason: ${why}` }]
  })
}

const maxTitle = 500
