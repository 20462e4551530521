import { pendingMessageCases } from '../chat/pending-messages.ts'
import { turnCases } from '../chat/turn.ts'
import { Activity, withActivity } from '../status.ts'
import { compact, orAbsent, patch, upsert } from '../update.ts'
import { callRules, skipped } from './calls.ts'
import { unread, withStatus } from './conversation-status.ts'
import type { Conversation, Traits, Part, Turn } from './traits.ts'
import { requestRules } from './requests.ts'
import type { Rules } from './table.ts'

interface Messages {
  readonly message?: unknown
  readonly userMessage?: unknown
}
interface Started extends Messages {
  readonly turnId: string
  readonly queuedMessageId?: string
}
interface Ended {
  readonly turnId: string
  readonly error?: unknown
}
interface Pending extends Messages {
  readonly kind: string
  readonly id: string
}

/** The rules of a conversation up to 0.5.1, without the name of the channel: `delta` for `session/delta` or `chat/delta`. */
export function conversationRules(traits: Traits): Rules {
  const { message: messageKey, time } = traits

  const ended = (outcome: 'complete' | 'cancelled' | 'error') => {
    return (state: Conversation, { turnId, error }: Ended, now: number): Conversation => {
      const active = state.activeTurn
      if (active?.id !== turnId) return state
      const turn = compact<Turn & { state: string; error?: unknown }>({
        id: active.id,
        [messageKey]: active[messageKey],
        responseParts: active.responseParts.map((part) => skipped(traits, part)),
        usage: active.usage ?? undefined,
        state: outcome,
        error: outcome === 'error' ? error : undefined,
      })
      return patch(state, {
        turns: [...state.turns, turn],
        activeTurn: undefined,
        inputRequests: undefined,
        modifiedAt: time(now),
        status: withActivity(state.status, outcome === 'error' ? Activity.Error : Activity.Idle),
      })
    }
  }

  return {
    ...callRules(traits),
    ...requestRules(traits),

    // A new turn replaces the active turn, of which nothing is kept.
    turnStarted: (state: Conversation, action: Started, now: number) => {
      const { turnId, queuedMessageId } = action
      const activeTurn: Turn = { id: turnId, [messageKey]: action[messageKey], responseParts: [] }
      const started: Conversation = { ...state, activeTurn, modifiedAt: time(now) }
      return unread(queuedMessageId ? withoutPending(started, queuedMessageId) : started)
    },

    delta: turnCases['chat/delta'],
    reasoning: turnCases['chat/reasoning'],
    usage: turnCases['chat/usage'],
    responsePart: (state: Conversation, action: { readonly turnId: string; readonly part: Part }) => {
      const turn = state.activeTurn
      if (turn?.id !== action.turnId) return state
      return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, action.part] } }
    },

    turnComplete: ended('complete'),
    turnCancelled: ended('cancelled'),
    error: ended('error'),

    truncated: truncated(traits),

    pendingMessageSet: (state: Conversation, action: Pending) => {
      const pending = { id: action.id, [messageKey]: action[messageKey] }
      return action.kind === 'steering'
        ? { ...state, steeringMessage: pending }
        : { ...state, queuedMessages: upsert(state.queuedMessages, 'id', pending) }
    },
    pendingMessageRemoved: pendingMessageCases['chat/pendingMessageRemoved'],
    queuedMessagesReordered: pendingMessageCases['chat/queuedMessagesReordered'],
  }
}

/**
 * Drops the turns after the turn of the action, or all turns if the action has no `turnId`. Also drops the active
 * turn and the input requests. An unknown turn changes nothing.
 */
export function truncated({ time }: Pick<Traits, 'time'>) {
  return (state: Conversation, { turnId }: { readonly turnId?: string }, now: number): Conversation => {
    const at = state.turns.findIndex((turn) => turn.id === turnId)
    if (turnId !== undefined && at < 0) return state
    const turns = state.turns.slice(0, at + 1)
    const kept = patch(state, { turns, activeTurn: undefined, inputRequests: undefined })
    return withStatus({ ...kept, modifiedAt: time(now) })
  }
}

function withoutPending(state: Conversation, id: string): Conversation {
  return patch(state, {
    ...(state.steeringMessage?.id === id && { steeringMessage: undefined }),
    queuedMessages: orAbsent((state.queuedMessages ?? []).filter((message) => message.id !== id)),
  })
}
