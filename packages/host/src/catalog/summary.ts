import type { AnnotationsState } from '@atrium/protocol/annotations/state'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { ChangesSummary } from '@atrium/protocol/common/content'
import { isJsonObject } from '@atrium/protocol/json'
import type { ChatSummaryChanges } from '@atrium/protocol/session/actions'
import { leadingChat, modificationTime, newestChat, sessionStatus } from '@atrium/protocol/session/activity'
import type {
  AnnotationsSummary,
  SessionChatSummary,
  SessionState,
  SessionSummary,
} from '@atrium/protocol/session/state'
import { Activity, withActivity } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { equal } from '../kernel/log/equal.ts'

/** The fields of a session's entry that are derived from its chats. */
interface DerivedFields {
  readonly status: number
  readonly activity?: string
  readonly modifiedAt?: string
  readonly changes?: ChangesSummary
}

export function summarize(state: SessionState): DerivedFields {
  const { modifiedAt, changes } = fieldsOf(state.chats)
  return compact<DerivedFields>({
    status: sessionStatus(state),
    activity: activityOf(state),
    modifiedAt,
    changes,
  })
}

/**
 * Returns the activity of a session: that of a chat that needs input, else of a chat that failed, else of the default
 * chat, else of the newest chat.
 */
export function activityOf(state: SessionState): string | undefined {
  // An entry in the session's list of chats has an empty text for an ended activity.
  return leadingChat(state)?.activity || undefined
}

/** Returns a session's entry in the session list. States never change, so the entry of a state is made once. */
export function summaryOf(resource: Uri, createdAt: string, state: SessionState): SessionSummary {
  const made = summaries.get(state)
  if (made?.resource === resource && made.createdAt === createdAt) return made
  const summary = newSummary(resource, createdAt, state)
  summaries.set(state, summary)
  return summary
}

/** Returns what a session's entry says about the annotations of the session. */
export function annotationCounts(resource: Uri, { annotations }: AnnotationsState): AnnotationsSummary {
  const entryCount = annotations.reduce((count, { entries }) => count + entries.length, 0)
  return { resource, annotationCount: annotations.length, entryCount }
}

const summaries = new WeakMap<SessionState, SessionSummary>()

function newSummary(resource: Uri, createdAt: string, state: SessionState): SessionSummary {
  const { provider, title, origin, project, workingDirectories, defaultChat } = state
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
    chats: fieldsOf(state.chats).chats,
    defaultChat,
    _meta: metaOf(state),
  })
}

/**
 * What lenses must know of a session to write its entry for older clients. `selection`: the chosen model and agent, for clients
 * up to 0.4. `withoutLogins`: the status for clients that see no login, up to 0.5.2. Undefined if there is neither.
 */
function metaOf(state: SessionState): SessionSummary['_meta'] {
  const own = state._meta?.[ownKey]
  const selection = isJsonObject(own) ? own['selection'] : undefined
  const withoutLogins = statusWithoutLogins(state)
  if (selection === undefined && withoutLogins === undefined) return undefined
  return { [ownKey]: compact<object>({ selection, withoutLogins }) }
}

/** The status of a session as if calls that wait for a login ran. Undefined if that is its status. */
function statusWithoutLogins(state: SessionState): number | undefined {
  const needed = state.inputNeeded ?? []
  const waits = (chat: Uri, login: boolean) =>
    needed.some((request) => request.chat === chat && (request.kind === 'toolAuthentication') === login)
  const chats = state.chats.map((chat) =>
    waits(chat.resource, true) && !waits(chat.resource, false)
      ? { ...chat, status: withActivity(chat.status, Activity.InProgress) }
      : chat,
  )
  const status = sessionStatus({ ...state, chats })
  return status === sessionStatus(state) ? undefined : status
}

function marked({ _meta }: SessionSummary): boolean {
  const own = _meta?.[ownKey]
  return isJsonObject(own) && 'withoutLogins' in own
}

/** Returns the fields that differ between two entries of a session. The status and the one without logins go together. */
export function changedFields(
  before: SessionSummary,
  after: SessionSummary,
): readonly (keyof SessionSummary)[] {
  const keys = new Set([...keysOf(before), ...keysOf(after)])
  const changed = [...keys].filter((key) => !equal(after[key], before[key]))
  const both = (['status', '_meta'] as const).filter(() => marked(before) || marked(after))
  return both.some((key) => changed.includes(key)) ? [...new Set([...changed, ...both])] : changed
}

const ownKey = 'x-atrium'

/** What a session's entry has from the list of its chats. */
interface ChatFields {
  readonly modifiedAt: string | undefined
  readonly changes: ChangesSummary | undefined
  readonly chats: readonly SessionChatSummary[]
}

/**
 * Returns the fields that a session's entry has from a list of chats. They are made once for each list, because most
 * actions on a session leave its list of chats as it is.
 */
function fieldsOf(chats: SessionState['chats']): ChatFields {
  const made = chatFields.get(chats)
  if (made) return made
  const changes = largest(chats.flatMap((chat) => chat.changes ?? []))
  const fields = { modifiedAt: modifiedAt(chats), changes, chats: chats.map(sessionChatOf) }
  chatFields.set(chats, fields)
  return fields
}

const chatFields = new WeakMap<SessionState['chats'], ChatFields>()

/**
 * Returns the fields of a chat that differ from its entry in the session; undefined if none differs. Title,
 * interactivity and counts of changes are only in the entry. A change cannot remove a field, so an ended activity
 * becomes an empty text.
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

/**
 * Returns the counts with the most lines. They are not added up, because chats that work in one folder count the same
 * changes.
 */
function largest(all: readonly ChangesSummary[]): ChangesSummary | undefined {
  const lines = ({ additions = 0, deletions = 0 }: ChangesSummary) => additions + deletions
  return all.reduce<ChangesSummary | undefined>(
    (most, one) => (most && lines(most) >= lines(one) ? most : one),
    undefined,
  )
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

/** Returns the keys of an object that has no other keys than its type says. */
function keysOf<T extends object>(value: T): readonly (keyof T)[] {
  // `Object.keys` is typed for objects that may have more keys than their type.
  return Object.keys(value) as (keyof T)[]
}
