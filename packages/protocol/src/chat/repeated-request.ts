import type { InputRequestPart, ResponsePart } from './state.ts'

/**
 * A request is repeated when some client has removed it although the host refused its answers. A repeated request has an id of
 * its own, because some clients show each request once.
 */
const repeat = /~repeat-(\d+)$/

/** The id of the request that an agent has made, for the id of any of its repeats. */
export function firstRequestId(requestId: string): string {
  return requestId.replace(repeat, '')
}

/** The id of the next repeat of a request. */
export function repeatedRequestId(requestId: string): string {
  return `${firstRequestId(requestId)}~repeat-${Number(repeat.exec(requestId)?.[1] ?? 0) + 1}`
}

/** Finds the request that an agent has made, or its last repeat. */
export function requestIn(
  parts: readonly ResponsePart[] = [],
  requestId: string,
): InputRequestPart | undefined {
  return parts.findLast(
    (part): part is InputRequestPart =>
      part.kind === 'inputRequest' && firstRequestId(part.request.id) === requestId,
  )
}

/** The parts of a turn without the requests that were repeated. */
export function withoutRepeated(parts: readonly ResponsePart[]): readonly ResponsePart[] {
  return parts.filter(
    (part) => part.kind !== 'inputRequest' || requestIn(parts, firstRequestId(part.request.id)) === part,
  )
}
