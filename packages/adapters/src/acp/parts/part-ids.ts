import type { Chat } from '@atrium/host/ports/agent'

/**
 * Returns the highest number that the ids of a turn use, so that a resumed turn repeats no id. Parts without an id use up a
 * number too, so the result is at least the number of parts.
 */
export function lastIdNumber({ state: { activeTurn }, turnId }: Chat): number {
  const parts = activeTurn?.responseParts ?? []
  const ids = parts.flatMap((part) => {
    if (part.kind === 'toolCall') return part.toolCall.toolCallId
    if (part.kind === 'inputRequest') return part.request.id
    return 'id' in part && typeof part.id === 'string' ? part.id : []
  })
  const numbers = ids.map((id) => Number(id.slice(turnId.length + 1)) || 0)
  return Math.max(parts.length, ...numbers)
}
