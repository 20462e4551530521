import type { Route } from './route.ts'

/** A session that is in the document: the open one, or one that was open before. */
export interface Kept {
  readonly session: string
  /** The chat that was open in it. Undefined: its default chat. */
  readonly chat: string | undefined
  /** Grows with each session that is opened, so that the one that was left longest ago has the smallest. */
  readonly at: number
}

/** The most sessions in the document, with the open one. */
export const keptCount = 4

/**
 * The sessions in the document after a route was taken. Sessions keep their places in the list, because an element that
 * is moved loses its scroll position. If there are too many, the one that was open longest ago goes.
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
