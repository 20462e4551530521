import type { ResponsePart } from './state.ts'

type Parts = readonly ResponsePart[]

/**
 * The index of the first part with an id, or -1. Streaming needs it for every token, so a small cache holds the last
 * index of the lists that are being streamed into. `withPart` moves the cache entry to the list that replaces the old
 * one. The cache changes the speed only, never the result.
 */
export function indexOfPart(parts: Parts, partId: string): number {
  const cached = cacheEntryOf(parts)
  if (cached?.partId === partId) return cached.index
  const index = parts.findIndex((part) => idOf(part) === partId)
  if (index >= 0) {
    const entry = cached ?? cache[oldest++ % cache.length]
    if (entry) Object.assign(entry, { parts, partId, index })
  }
  return index
}

/** Replaces the part at an index. The new part has the same id, so the cached index stays valid. */
export function withPart(parts: Parts, index: number, part: ResponsePart): Parts {
  const next = parts.slice()
  next[index] = part
  const cached = cacheEntryOf(parts)
  if (cached) cached.parts = next
  return next
}

/**
 * Flattens the texts of a turn that has ended, and drops its cache entry. A string that was built by appending is a tree
 * of its pieces inside the engine, which takes many times the memory. Reading one character makes the engine flatten it.
 */
export function flattenTexts(parts: Parts): void {
  for (const part of parts)
    if (part.kind === 'markdown' || part.kind === 'reasoning') part.content.charCodeAt(0)
  const cached = cacheEntryOf(parts)
  if (cached) cached.parts = undefined
}

/** The id of a part. Some kinds of parts have none. */
function idOf(part: ResponsePart): string | undefined {
  if (part.kind === 'toolCall') return part.toolCall.toolCallId
  return 'id' in part ? part.id : undefined
}

interface CacheEntry {
  parts: Parts | undefined
  partId: string
  index: number
}

/** One entry for each chat that streams at the same time. With more chats than entries, a token may cost a search again. */
const cache: readonly CacheEntry[] = Array.from({ length: 8 }, () => ({
  parts: undefined,
  partId: '',
  index: -1,
}))
let oldest = 0

function cacheEntryOf(parts: Parts): CacheEntry | undefined {
  for (const entry of cache) if (entry.parts === parts) return entry
  return undefined
}
