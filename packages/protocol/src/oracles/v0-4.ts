import { configChanged } from '../common/config-changed.ts'
import { Flag, withFlag } from '../status.ts'
import { patch } from '../update.ts'
import { withSummary } from './summary.ts'
import type { SummarySession } from './summary.ts'
import { absent } from './table.ts'
import type { Rule, Rules, VersionRules } from './table.ts'
import { v050 } from './v0-5-0.ts'

type SessionRule<A> = Rule<SummarySession, { readonly [K in keyof A]: A[K] }>

const titleChanged: SessionRule<{ title: string }> = (state, { title }, now) =>
  withSummary(state, { title, modifiedAt: now })
const modelChanged: SessionRule<{ model: unknown }> = (state, { model }, now) =>
  withSummary(state, { model, modifiedAt: now })
const agentChanged: SessionRule<{ agent?: unknown }> = (state, { agent }, now) =>
  withSummary(state, { agent: agent ?? undefined, modifiedAt: now })

const isReadChanged: SessionRule<{ isRead: boolean }> = (state, { isRead }) =>
  withSummary(state, { status: withFlag(state.summary.status, Flag.IsRead, isRead) })
const isArchivedChanged: SessionRule<{ isArchived: boolean }> = (state, { isArchived }) =>
  withSummary(state, { status: withFlag(state.summary.status, Flag.IsArchived, isArchived) })
const activityChanged: SessionRule<{ activity?: string }> = (state, { activity }) =>
  withSummary(state, { activity: activity ?? undefined })

const configStamped: SessionRule<{ config: Record<string, unknown>; replace?: boolean }> = (
  state,
  action,
  now,
) => {
  const next = configChanged(state, action)
  return next === state ? state : withSummary(next, { modifiedAt: now })
}

const activeClientChanged: SessionRule<{ activeClient: SummarySession['activeClient'] | null }> = (
  state,
  { activeClient },
) => patch(state, { activeClient: activeClient ?? undefined })
const activeClientToolsChanged: SessionRule<{ tools: unknown }> = (state, { tools }) =>
  state.activeClient ? { ...state, activeClient: { ...state.activeClient, tools } } : state

/**
 * At 0.4 what a session shows in the list of sessions is in the key `summary`, and one client at a time is active.
 */
const session: Rules = {
  ...absent('session/activeClientSet', 'session/activeClientRemoved'),
  'session/titleChanged': titleChanged,
  'session/modelChanged': modelChanged,
  'session/agentChanged': agentChanged,
  'session/isReadChanged': isReadChanged,
  'session/isArchivedChanged': isArchivedChanged,
  'session/activityChanged': activityChanged,
  'session/configChanged': configStamped,
  'session/activeClientChanged': activeClientChanged,
  'session/activeClientToolsChanged': activeClientToolsChanged,
}

export const v04: VersionRules = {
  ...v050,
  session: { ...v050.session, ...session },
  chat: { ...v050.chat, ...absent('chat/activityChanged', 'chat/draftChanged') },
}
