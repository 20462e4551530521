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

/**
 * The sessions in groups: first those that wait for a person, then those at work, then the others by time. `answers`:
 * whether the person at this page may answer. Otherwise somebody else must, and the title of the first group says so.
 */
export function groupsOf(
  sessions: readonly SessionSummary[],
  now: number,
  answers: boolean,
): readonly SessionGroup[] {
  const groups = new Map<GroupName, SessionSummary[]>(names.map((name) => [name, []]))
  for (const session of sessions) groups.get(groupOf(session, now))?.push(session)
  return [...groups]
    .filter(([, each]) => each.length > 0)
    .map(([name, each]) => ({
      title: name === 'Needs you' && !answers ? 'Waits for an answer' : name,
      asks: name === 'Needs you',
      sessions: each,
    }))
}

type GroupName = (typeof names)[number]
const names = ['Needs you', 'Working', 'Today', 'This week', 'Earlier', 'Archived'] as const
const day = 86_400_000

function groupOf(session: SessionSummary, now: number): GroupName {
  if (isArchived(session)) return 'Archived'
  const mood = moodOf(session)
  if (mood === 'needs you') return 'Needs you'
  if (mood === 'working') return 'Working'
  const age = now - Date.parse(session.modifiedAt)
  return age < day ? 'Today' : age < 7 * day ? 'This week' : 'Earlier'
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
