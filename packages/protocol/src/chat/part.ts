import type { ResponsePart } from './state.ts'

type Parts = readonly ResponsePart[]

/**
 * Where the first part with an id stands. Streaming asks this for every token, so answers are remembered for the few
 * lists that are being streamed into; `withPart` hands an answer on to the list that replaces its own. The memory
 * changes how fast an answer comes, never the answer.
 */
export function indexOfPart(parts: Parts, partId: string): number {
  const known = recall(parts)
  if (known?.partId === partId) return known.index
  const index = parts.findIndex((part) => idOf(part) === partId)
  if (index >= 0) remember(known, parts, partId, index)
  return index
}

/** The list with another part at an index. The part keeps its id, so what was known stays true. */
export function withPart(parts: Parts, index: number, part: ResponsePart): Parts {
  const next = parts.slice()
  next[index] = part
  const known = recall(parts)
  if (known) known.parts = next
  return next
}

/**
 * A turn is over. The text that grew piece by piece is still a tree of its pieces, many times its size; looking at one
 * character makes the engine lay it out flat.
 */
export function settle(parts: Parts): void {
  for (const part of parts)
    if (part.kind === 'markdown' || part.kind === 'reasoning') part.content.charCodeAt(0)
  const known = recall(parts)
  if (known) known.parts = undefined
}

/** Parts without an id are found by nobody. */
function idOf(part: ResponsePart): string | undefined {
  if (part.kind === 'toolCall') return part.toolCall.toolCallId
  return 'id' in part ? part.id : undefined
}

interface Memory {
  parts: Parts | undefined
  partId: string
  index: number
}

/** As many as chats that stream at the same moment; with more of them a token costs a search again. */
const memories: readonly Memory[] = Array.from({ length: 8 }, () => ({
  parts: undefined,
  partId: '',
  index: -1,
}))
let oldest = 0

function recall(parts: Parts): Memory | undefined {
  for (const memory of memories) if (memory.parts === parts) return memory
  return undefined
}

function remember(known: Memory | undefined, parts: Parts, partId: string, index: number): void {
  const memory = known ?? memories[oldest++ % memories.length]
  if (memory) Object.assign(memory, { parts, partId, index })
}
