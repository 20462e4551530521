import type { InputRequestPart, ResponsePart } from './state.ts'

/**
 * The end of the id of a repeated request. The host repeats a request if it refused the answers of a client that has
 * already removed the request. The repeated request has a new id, because some clients show each id only once.
 */
const repeat = /~repeat-(\d+)$/

/** Returns the id of the agent's original request. The given id may be that of a repeat. */
export function firstRequestId(requestId: string): string {
  return requestId.replace(repeat, '')
}

/** The id of the next repeat of a request. */
export function repeatedRequestId(requestId: string): string {
  return `${firstRequestId(requestId)}~repeat-${Number(repeat.exec(requestId)?.[1] ?? 0) + 1}`
}

/** Finds the last repeat of an agent's request, or the original request if there is no repeat. */
export function requestIn(
  parts: readonly ResponsePart[] = [],
  requestId: string,
): InputRequestPart | undefined {
  return parts.findLast(
    (part): part is InputRequestPart =>
      part.kind === 'inputRequest' && firstRequestId(part.request.id) === requestId,
  )
}

/** The parts of a turn, without each input request that was repeated later. */
export function withoutRepeated(parts: readonly ResponsePart[]): readonly ResponsePart[] {
  return parts.filter(
    (part) => part.kind !== 'inputRequest' || requestIn(parts, firstRequestId(part.request.id)) === part,
  )
}
