import type { Case, Cases } from '../reduce.ts'
import { Activity, Flag, withActivity, withFlag } from '../status.ts'
import { compact, orAbsent, patch } from '../update.ts'
import type { TurnAction } from './actions.ts'
import { endOf } from './clock.ts'
import { indexOfPart, flattenTexts, withPart } from './part.ts'
import type {
  ActiveTurn,
  ChatState,
  ErrorPart,
  MarkdownPart,
  ReasoningPart,
  Turn,
  TurnState,
} from './state.ts'
import { statusOf, skipped } from './tool-call.ts'

export const turnCases: Cases<ChatState, TurnAction> = {
  'chat/turnStarted': (state, { turnId, startedAt, message, queuedMessageId }) => {
    const activeTurn: ActiveTurn = { id: turnId, startedAt, message, responseParts: [] }
    const started: ChatState = { ...state, activeTurn, modifiedAt: startedAt }
    return unread(queuedMessageId ? withoutPending(started, queuedMessageId) : started)
  },

  'chat/delta': (state, action) => append(state, 'markdown', action),
  'chat/reasoning': (state, action) => append(state, 'reasoning', action),

  // Only `chat/error` adds an error part. A new part does not change the status, even if the part asks for input.
  'chat/responsePart': whileActive((state, { part }, turn) =>
    part.kind === 'error'
      ? state
      : withTurn(state, { ...turn, responseParts: [...turn.responseParts, part] }),
  ),

  'chat/usage': whileActive((state, { usage }, turn) => withTurn(state, { ...turn, usage })),

  'chat/turnComplete': whileActive((state, { duration }) => ended(state, 'complete', duration)),
  'chat/turnCancelled': whileActive((state, { duration }) => ended(state, 'cancelled', duration)),
  'chat/error': whileActive((state, { duration, part }) => ended(state, 'error', duration, part)),

  'chat/turnResume': (state, { turnId }) => {
    const turn = state.turns.at(-1)
    if (state.activeTurn || turn?.id !== turnId || !resumable(turn)) return state
    const { id, startedAt = state.modifiedAt, message, responseParts, usage } = turn
    const activeTurn = compact<ActiveTurn>({ id, startedAt, message, responseParts, usage })
    return unread({ ...state, turns: state.turns.slice(0, -1), activeTurn })
  },

  'chat/truncated': (state, { turnId }) => {
    const at = state.turns.findIndex((turn) => turn.id === turnId)
    if (turnId !== undefined && at < 0) return state
    return patch(state, {
      turns: state.turns.slice(0, at + 1),
      activeTurn: undefined,
      status: withActivity(state.status, Activity.Idle),
      ...(turnId === undefined && { turnsNextCursor: undefined }),
    })
  },

  'chat/turnsLoaded': (state, { turns, turnsNextCursor }) => {
    const loaded = new Set(state.turns.map((turn) => turn.id))
    const older = turns.filter((turn) => !loaded.has(turn.id))
    return patch(state, { turns: [...older, ...state.turns], turnsNextCursor })
  },
}

type ActionWithTurn = Extract<TurnAction, { readonly turnId: string }>

/** Returns a reducer case that applies only if the turn of the action is the active turn. */
function whileActive<A extends { readonly type: string; readonly turnId: string }>(
  update: (state: ChatState, action: A, turn: ActiveTurn) => ChatState,
): Case<ChatState, A> {
  return (state, action) =>
    state.activeTurn?.id === action.turnId ? update(state, action, state.activeTurn) : state
}

export function withTurn(state: ChatState, activeTurn: ActiveTurn): ChatState {
  return { ...state, activeTurn }
}

/** The state with the status of its turn and without the flag IsRead, because there is something new to read. */
export function unread(state: ChatState): ChatState {
  return { ...state, status: withFlag(statusOf(state), Flag.IsRead, false) }
}

/** Appends a token to a text part. This is the most frequent case and must be fast. */
function append(
  state: ChatState,
  kind: 'markdown' | 'reasoning',
  action: Extract<ActionWithTurn, { readonly content: string }>,
): ChatState {
  const turn = state.activeTurn
  if (turn?.id !== action.turnId) return state
  const index = indexOfPart(turn.responseParts, action.partId)
  const part = turn.responseParts[index]
  if (!part) return state
  if (part.kind !== kind) return { ...state }
  const grown: MarkdownPart | ReasoningPart = { ...part, content: part.content + action.content }
  return { ...state, activeTurn: { ...turn, responseParts: withPart(turn.responseParts, index, grown) } }
}

/** Ends the active turn. Unfinished calls become skipped, open requests stay, an error becomes the last part. */
function ended(state: ChatState, outcome: TurnState, duration: number, error?: ErrorPart): ChatState {
  const active = state.activeTurn
  if (!active) return state
  const { id, startedAt, message, usage } = active
  flattenTexts(active.responseParts)
  const parts = active.responseParts.map(skipped)
  const turn = compact<Turn>({
    id,
    startedAt,
    duration: Math.max(0, duration),
    message,
    responseParts: error ? [...parts, error] : parts,
    usage,
    state: outcome,
  })
  return patch(state, {
    turns: [...state.turns, turn],
    activeTurn: undefined,
    status: withActivity(state.status, outcome === 'error' ? Activity.Error : Activity.Idle),
    modifiedAt: endOf(startedAt, duration) ?? state.modifiedAt,
  })
}

function resumable(turn: Turn): boolean {
  const last = turn.responseParts.at(-1)
  return turn.state === 'error' && last?.kind === 'error' && last.resumable === true
}

function withoutPending(state: ChatState, id: string): ChatState {
  return patch(state, {
    ...(state.steeringMessage?.id === id && { steeringMessage: undefined }),
    queuedMessages: orAbsent((state.queuedMessages ?? []).filter((message) => message.id !== id)),
  })
}
