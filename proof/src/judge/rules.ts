import type { Action } from '@atrium/protocol/channel'
import type { ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { ChannelKind } from '@atrium/protocol/kind'

// The rules of I3, I6, I17 and I18. The simulation applies them to each step that the host writes; the judge of chaos and soak, and
// that of several nodes, to the log at the end.

/** An action of a log. */
interface Logged {
  readonly seq: number
  readonly origin?: { readonly clientId: string; readonly clientSeq: number } | undefined
}

/**
 * Checks I6: an action of a client is applied at most once. Yields each action that was applied before. An action with
 * `clientSeq` 0 has no number and is not checked.
 */
export function* appliedTwice<Each extends Logged>(
  log: Iterable<Each>,
): Iterable<{ readonly action: Each; readonly before: number; readonly key: string }> {
  const applied = new Map<string, number>()
  for (const action of log) {
    const { origin, seq } = action
    if (!origin || origin.clientSeq === 0) continue
    const key = `${origin.clientSeq} of ${origin.clientId}`
    const before = applied.get(key)
    applied.set(key, seq)
    if (before !== undefined) yield { action, before, key }
  }
}

/** Checks I17: a turn starts while none is active, and every other action on it comes while it is. Returns what is wrong. */
export function turnProblem(
  { activeTurn }: Pick<ChatState, 'activeTurn'>,
  action: Action,
): string | undefined {
  const { type, turnId } = action as Action & { readonly turnId?: string }
  const begins = type === 'chat/turnStarted' || type === 'chat/turnResume'
  if (begins) return activeTurn && `${turnId} was started while ${activeTurn.id} was active`
  if (turnId === undefined || type === 'chat/truncated' || activeTurn?.id === turnId) return undefined
  return `${type} of ${turnId}, which was not active`
}

type Entry = Pick<ChatSummary, 'status' | 'activity' | 'modifiedAt'>

/** Checks I18: the entry for a chat in its session agrees with the chat. */
export function agrees(entry: Entry, chat: Partial<Entry>): boolean {
  return (
    entry.status === chat.status &&
    (entry.activity ?? '') === (chat.activity ?? '') &&
    entry.modifiedAt === chat.modifiedAt
  )
}

/** Returns a state without the fields that no action can change: I3 does not compare them. */
export function changeable({ derived }: Pick<ChannelKind, 'derived'>, state: unknown): unknown {
  return without(state, derived)
}

type Left = { readonly [key: string]: true | Left }

/** Returns the state without the fields in `derived`. `true` leaves a field out; a nested table leaves out parts of it. */
function without(state: unknown, derived: object): unknown {
  if (typeof state !== 'object' || state === null) return state
  const left = { ...(state as Record<string, unknown>) }
  for (const [key, how] of Object.entries(derived as Left)) {
    if (how === true) delete left[key]
    else if (left[key] !== undefined) left[key] = without(left[key], how)
  }
  return left
}
