import type { Route } from '../ui/route.ts'

/** A session whose elements are in the document: the open session, or one that was opened earlier. */
export interface Kept {
  readonly session: string
  /** The chat that was open in it. Undefined: its default chat. */
  readonly chat: string | undefined
  /** The order of opening. The session that was opened last has the highest number. */
  readonly at: number
}

/** The most sessions in the document, with the open one. */
export const keptCount = 4

/**
 * Returns the sessions to keep in the document when the page goes to a route: the kept ones, and the session of the
 * route. The order of the list stays, because an element that is moved loses its scroll position. If there are more than
 * `keptCount`, the session that was opened longest ago is removed.
 */
export function opened(kept: readonly Kept[], { session, chat }: Route): readonly Kept[] {
  if (session === undefined) return kept
  const newest = kept.reduce((most, { at }) => Math.max(most, at), 0)
  const known = kept.find((each) => each.session === session)
  if (known && known.chat === chat && known.at === newest) return kept
  const open: Kept = { session, chat, at: newest + 1 }
  const all = known ? kept.map((each) => (each === known ? open : each)) : [...kept, open]
  if (all.length <= keptCount) return all
  const oldest = all.reduce((first, each) => (each.at < first.at ? each : first))
  return all.filter((each) => each !== oldest)
}
