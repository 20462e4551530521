import type { HostedSession } from '@atrium/client/hosts'
import { pathOf } from '@atrium/protocol/file-uri'
import { Activity, activityOf, Flag, hasFlag } from '@atrium/protocol/status'

/** What the list shows and which session is chosen. It depends on no terminal. */
export interface ListState {
  /** Words that a session must have in its title, folder, agent or host. */
  readonly filter: string
  readonly archived: boolean
  /** The key of the chosen session; undefined: the first. */
  readonly chosen?: string | undefined
  /** The index of the first session on the screen. */
  readonly top: number
}

export const emptyList: ListState = { filter: '', archived: false, top: 0 }

/** Two hosts may have a session with the same URI. */
export function keyOf({ host, resource }: Pick<HostedSession, 'host' | 'resource'>): string {
  return `${host} ${resource}`
}

/** Returns the sessions that the list shows: those that need somebody first, then those at work, each the newest first. */
export function listed(
  sessions: readonly HostedSession[],
  { filter, archived }: ListState,
): readonly HostedSession[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const groups: readonly HostedSession[][] = [[], [], []]
  for (const session of sessions)
    if ((archived || !hasFlag(session.status, Flag.IsArchived)) && matches(session, words))
      groups[rankOf(session)]?.push(session)
  return groups.flat()
}

export interface Counts {
  readonly needing: number
  readonly working: number
  readonly all: number
}

/** Counts the sessions that the list shows without a filter. */
export function countsOf(sessions: readonly HostedSession[], { archived }: ListState): Counts {
  const shown = archived ? sessions : sessions.filter(({ status }) => !hasFlag(status, Flag.IsArchived))
  const ranks = shown.map(rankOf)
  const count = (rank: number) => ranks.filter((each) => each === rank).length
  return { needing: count(0), working: count(1), all: shown.length }
}

/** Returns the index of the chosen session. If it is gone from the list, the first is chosen. */
export function chosenIndex(shown: readonly HostedSession[], { chosen }: ListState): number {
  return Math.max(
    0,
    shown.findIndex((session) => keyOf(session) === chosen),
  )
}

/** Chooses the session at an index, and scrolls the list so that it is among the `height` rows on the screen. */
export function choose(
  state: ListState,
  shown: readonly HostedSession[],
  index: number,
  height: number,
): ListState {
  const at = Math.min(Math.max(0, index), Math.max(0, shown.length - 1))
  const session = shown[at]
  const lowest = Math.max(0, Math.min(at, shown.length - height))
  const top = Math.max(Math.min(state.top, lowest), at - height + 1, 0)
  return { ...state, chosen: session && keyOf(session), top }
}

function rankOf({ status }: HostedSession): 0 | 1 | 2 {
  const activity = activityOf(status)
  return activity === Activity.InputNeeded ? 0 : activity === Activity.InProgress ? 1 : 2
}

function matches(
  { title, provider, host, workingDirectories = [] }: HostedSession,
  words: readonly string[],
) {
  if (words.length === 0) return true
  const folders = workingDirectories.map((uri) => {
    const path = pathOf(uri)
    return path.ok ? path.path : uri
  })
  const text = [title, provider, host, ...folders].join('\n').toLowerCase()
  return words.every((word) => text.includes(word))
}
