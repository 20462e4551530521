import { patch } from '../update.ts'
import type { Changes } from '../update.ts'
import type { Conversation } from './traits.ts'
import type { Rule, Rules } from './table.ts'

/** The summary in the state of a session up to 0.4, with the keys that rules read or set. Times are in milliseconds. */
interface Summary {
  readonly title: string
  readonly status: number
  readonly activity?: string
  readonly modifiedAt: number
  readonly model?: unknown
  readonly agent?: unknown
  readonly changesets?: unknown
  readonly diffs?: unknown
}

/** The state of a session up to 0.4. */
export interface SummarySession {
  readonly summary: Summary
  readonly config?: { readonly values: Record<string, unknown> }
  readonly activeClient?: { readonly tools: unknown }
}

export function withSummary<S extends SummarySession>(state: S, changes: Changes<Summary>): S {
  return { ...state, summary: patch(state.summary, changes) }
}

/** The state of a session up to 0.3, which is also its only conversation. */
export interface ConversationSession
  extends SummarySession, Omit<Conversation, 'status' | 'modifiedAt' | 'turnsNextCursor'> {}

/**
 * Turns the rules of a conversation into rules of its session, whose summary has the status and the time of the last
 * change.
 */
export function onSession(rules: Rules): Rules {
  return Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [
      name,
      // The rules of a conversation read and return conversations: hence the cast.
      rule && sessionRule(rule as Rule<Conversation, never>),
    ]),
  )
}

function sessionRule(rule: Rule<Conversation, never>): Rule<ConversationSession, never> {
  return (state, action, now) => {
    const before = conversationOf(state)
    const after = rule(before, action, now)
    if (after === before) return state
    const { turns, activeTurn, steeringMessage, queuedMessages, inputRequests, status } = after
    const modifiedAt = Number(after.modifiedAt)
    return patch(withSummary(state, { status, modifiedAt }), {
      turns,
      activeTurn,
      steeringMessage,
      queuedMessages,
      inputRequests,
    })
  }
}

function conversationOf(state: ConversationSession): Conversation {
  const { turns, activeTurn, steeringMessage, queuedMessages, inputRequests } = state
  return {
    turns,
    ...(activeTurn && { activeTurn }),
    ...(steeringMessage && { steeringMessage }),
    ...(queuedMessages && { queuedMessages }),
    ...(inputRequests && { inputRequests }),
    status: state.summary.status,
    modifiedAt: state.summary.modifiedAt,
  }
}
