import { Activity, Flag, activityOf, hasFlag } from '@atrium/protocol/status'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { hasWords } from '../ui/words.ts'

/** What a session does now, in the words of the page. */
export type SessionMood = 'needs you' | 'working' | 'failed' | 'idle'

export function moodOf({ status }: Pick<SessionSummary, 'status'>): SessionMood {
  const activity = activityOf(status)
  if (activity === Activity.InputNeeded) return 'needs you'
  if (activity === Activity.InProgress) return 'working'
  return activity === Activity.Error ? 'failed' : 'idle'
}

export const isUnread = ({ status }: SessionSummary): boolean => !hasFlag(status, Flag.IsRead)
export const isArchived = ({ status }: SessionSummary): boolean => hasFlag(status, Flag.IsArchived)

export interface SessionGroup {
  readonly title: string
  /** Whether these sessions wait for a person. */
  readonly asks: boolean
  readonly sessions: readonly SessionSummary[]
}

/** What groups the sessions of the list, besides that those that wait for a person come first. */
export const groupings = ['by time', 'by project'] as const
export type Grouping = (typeof groupings)[number]

interface GroupOptions {
  readonly now: number
  /** Whether the person at this page may answer. Otherwise somebody else must, and the title of the first group says so. */
  readonly answers: boolean
  readonly grouping: Grouping
  /** The sessions that a person has pinned. */
  readonly pinned: ReadonlySet<string>
}

/**
 * The sessions in groups: first those that wait for a person and the pinned ones, then the others by time, with those at
 * work before them, or by project. The project that was used last comes first.
 */
export function groupsOf(
  sessions: readonly SessionSummary[],
  { now, answers, grouping, pinned }: GroupOptions,
): readonly SessionGroup[] {
  const groups = new Map<string, SessionSummary[]>(first.map((name) => [name, []]))
  if (grouping === 'by time') for (const name of times) groups.set(name, [])
  const later = new Map<string, SessionSummary[]>([['Archived', []]])
  for (const session of sessions) {
    const name =
      pinnedName(session, pinned) ?? (grouping === 'by time' ? timeOf(session, now) : projectOf(session))
    const group = later.get(name) ?? groups.get(name) ?? []
    if (group.length === 0 && !later.has(name)) groups.set(name, group)
    group.push(session)
  }
  return [...groups, ...later]
    .filter(([, each]) => each.length > 0)
    .map(([name, each]) => ({
      title: name === 'Needs you' && !answers ? 'Waits for an answer' : name,
      asks: name === 'Needs you',
      sessions: each,
    }))
}

const first = ['Needs you', 'Pinned'] as const
const times = ['Working', 'Today', 'This week', 'Earlier'] as const
const day = 86_400_000

/** The group that a session is in, however the others are grouped. */
function pinnedName(session: SessionSummary, pinned: ReadonlySet<string>): string | undefined {
  if (isArchived(session)) return 'Archived'
  if (moodOf(session) === 'needs you') return 'Needs you'
  return pinned.has(session.resource) ? 'Pinned' : undefined
}

function timeOf(session: SessionSummary, now: number): (typeof times)[number] {
  if (moodOf(session) === 'working') return 'Working'
  const age = now - Date.parse(session.modifiedAt)
  return age < day ? 'Today' : age < 7 * day ? 'This week' : 'Earlier'
}

/** The sessions that a filter of the list leaves. */
export const filters = ['all', 'with questions', 'working', 'failed', 'unread'] as const
export type Filter = (typeof filters)[number]

export function filtered(sessions: readonly SessionSummary[], filter: Filter): readonly SessionSummary[] {
  if (filter === 'all') return sessions
  if (filter === 'unread') return sessions.filter(isUnread)
  // The filter has the same name for somebody who may not answer.
  const mood = filter === 'with questions' ? 'needs you' : filter
  return sessions.filter((session) => moodOf(session) === mood)
}

/** The sessions whose title, folder, agent or activity has all words of a search. */
export function matching(sessions: readonly SessionSummary[], search: string): readonly SessionSummary[] {
  return sessions.filter((session) =>
    hasWords(
      `${titleOf(session)} ${folderOf(session)} ${session.provider} ${session.activity ?? ''}`,
      search,
    ),
  )
}

export function titleOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'New session' : title
}

/** The path of the first folder of a session, as people write it. Empty if it has none. */
export function folderOf({ workingDirectories = [] }: Pick<SessionSummary, 'workingDirectories'>): string {
  return pathIn(workingDirectories[0] ?? '')
}

/** The folders in which sessions have worked lately, the newest first. */
export function recentFolders(sessions: readonly SessionSummary[]): readonly string[] {
  const newest = sessions.toSorted((a, b) => b.modifiedAt.localeCompare(a.modifiedAt))
  return [...new Set(newest.map(folderOf))].filter((folder) => folder !== '').slice(0, 6)
}

/** The name of the project of a session: that of its repository, or else of its folder. */
export function projectOf(session: SessionSummary): string {
  const name = session.project?.displayName ?? lastName(folderOf(session))
  return name === '' ? 'No folder' : name
}

export function pathIn(uri: string): string {
  if (!uri.startsWith('file://')) return uri
  try {
    return decodeURIComponent(uri.slice('file://'.length))
  } catch {
    return uri
  }
}

export function lastName(path: string): string {
  return path.split('/').findLast((name) => name !== '') ?? path
}
