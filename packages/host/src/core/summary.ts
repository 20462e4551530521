import type { Uri } from '@atrium/protocol/channel'
import type { ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { ChangesSummary } from '@atrium/protocol/common/content'
import type { ChatSummaryChanges } from '@atrium/protocol/session/actions'
import { leadingChat, modificationTime, newestChat, sessionStatus } from '@atrium/protocol/session/activity'
import type { SessionChatSummary, SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { compact } from '@atrium/protocol/update'
import { equal } from '../log/equal.ts'

/** The fields of a session's entry that are derived from its chats. */
interface DerivedFields {
  readonly status: number
  readonly activity?: string
  readonly modifiedAt?: string
  readonly changes?: ChangesSummary
}

export function summarize(state: SessionState): DerivedFields {
  const chat = leadingChat(state)
  return compact<DerivedFields>({
    status: sessionStatus(state),
    // An entry in the session's list of chats has an empty text for an ended activity.
    activity: chat?.activity || undefined,
    modifiedAt: modifiedAt(state.chats),
    changes: sum(state.chats.flatMap(({ changes }) => changes ?? [])),
  })
}

/** Returns a session's entry in the session list. */
export function summaryOf(resource: Uri, createdAt: string, state: SessionState): SessionSummary {
  const { provider, title, origin, project, workingDirectories, annotations, defaultChat } = state
  const { status, activity, modifiedAt: last = createdAt, changes } = summarize(state)
  return compact<SessionSummary>({
    resource,
    provider,
    title,
    status,
    activity,
    createdAt,
    modifiedAt: last,
    changes,
    origin,
    project,
    workingDirectories,
    annotations,
    chats: state.chats.map(sessionChatOf),
    defaultChat,
  })
}

/**
 * Returns the fields of a chat in which its entry in the session is outdated. Title, interactivity and counts of changes are
 * only in the entry. A change cannot remove a field, so an ended activity becomes an empty text.
 */
export function chatChanges(entry: ChatSummary, chat: ChatState): ChatSummaryChanges | undefined {
  const { status, activity = '', modifiedAt, movable, workingDirectories } = chat
  const now = compact<ChatSummaryChanges>({ status, activity, modifiedAt, movable, workingDirectories })
  const listed: { readonly [key: string]: unknown } = { activity: '', ...entry }
  const changed = Object.entries(now).filter(([key, value]) => !equal(value, listed[key]))
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}

/**
 * Returns the newest time of the chats, in UTC and with a year of four digits, so that the session list can be sorted as
 * text.
 */
function modifiedAt(chats: readonly ChatSummary[]): string | undefined {
  const last = newestChat(chats)
  return last && new Date(Math.min(Math.max(0, modificationTime(last)), endOfYear9999)).toISOString()
}

const endOfYear9999 = 253_402_300_799_999

function sum(all: readonly ChangesSummary[]): ChangesSummary | undefined {
  if (all.length === 0) return undefined
  const of = (key: 'additions' | 'deletions' | 'files') =>
    all.some((one) => one[key] !== undefined)
      ? all.reduce((total, one) => total + (one[key] ?? 0), 0)
      : undefined
  return compact<ChangesSummary>({
    additions: of('additions'),
    deletions: of('deletions'),
    files: of('files'),
  })
}

function sessionChatOf({
  resource,
  title,
  origin,
  interactivity,
  status,
  changes,
}: ChatSummary): SessionChatSummary {
  return compact<SessionChatSummary>({ resource, title, origin, interactivity, status, changes })
}

/** The keys of an object whose type has no others. */
export function keysOf<T extends object>(value: T): readonly (keyof T)[] {
  // `Object.keys` is typed for objects that may have more keys than their type.
  return Object.keys(value) as (keyof T)[]
}
