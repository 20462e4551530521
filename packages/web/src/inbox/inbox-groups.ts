import type { SessionSummary } from '@atrium/protocol/session/state'
import { isArchived, isUnread, moodOf, projectOf } from '../sessions/grouping.ts'

interface InboxGroup {
  readonly project: string
  readonly entries: readonly SessionSummary[]
}

/** The most sessions in the inbox. Each one with a question is subscribed to. */
const mostEntries = 12

/** The sessions that wait for a person, by project: first those with questions, then failed ones, then those with changes. */
export function inboxGroups(sessions: readonly SessionSummary[]): {
  readonly groups: readonly InboxGroup[]
  /** Number of sessions that wait, too, and are not among the groups. */
  readonly more: number
} {
  const waiting = sessions
    .flatMap((session) => {
      const rank = rankOf(session)
      return rank === undefined ? [] : [{ session, rank }]
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ session }) => session)
  const groups = new Map<string, SessionSummary[]>()
  for (const session of waiting.slice(0, mostEntries)) {
    const project = projectOf(session)
    groups.set(project, [...(groups.get(project) ?? []), session])
  }
  return {
    groups: [...groups].map(([project, entries]) => ({ project, entries })),
    more: Math.max(0, waiting.length - mostEntries),
  }
}

/** The place of a session in the inbox; undefined if it does not wait for anybody. */
function rankOf(session: SessionSummary): number | undefined {
  if (isArchived(session)) return undefined
  const mood = moodOf(session)
  if (mood === 'needs you') return 0
  if (!isUnread(session)) return undefined
  if (mood === 'failed') return 1
  return mood === 'idle' && (session.changes?.files ?? 0) > 0 ? 2 : undefined
}
