import type { Action } from '@atrium/protocol/channel'
import { indexOfPart } from '@atrium/protocol/chat/part'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { KindName } from '@atrium/protocol/reducers'
import type { SessionState } from '@atrium/protocol/session/state'

/**
 * Returns a sentence about a lost action, or undefined if none is noticed. All channels share one sequence, so a gap
 * in the numbers of one channel means nothing. A lost action shows only when a later action refers to something
 * missing: text for a part that never began, or the end of an unknown turn.
 */
export function gapIn(kind: KindName, state: unknown, action: Action): string | undefined {
  return checks.get(kind)?.(state, action)
}

// `Check` has checked that each state is of its kind: hence the casts.
const checks = new Map<KindName, (state: unknown, action: Action) => string | undefined>([
  ['chat', (state, action) => gapInChat(state as ChatState, action)],
  ['session', (state, action) => gapInSession(state as SessionState, action)],
])

interface ActionFields extends Action {
  readonly turnId?: string
  readonly partId?: string
  readonly toolCallId?: string
  readonly chat?: string
}

/**
 * The chat actions that refer to the active turn. The list is explicit, because later versions may add actions that do
 * not refer to it.
 */
const live = new Set([
  'chat/delta',
  'chat/reasoning',
  'chat/responsePart',
  'chat/usage',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/toolCallStart',
  'chat/toolCallDelta',
  'chat/toolCallReady',
  'chat/toolCallConfirmed',
  'chat/toolCallComplete',
  'chat/toolCallResultConfirmed',
  'chat/toolCallContentChanged',
  'chat/toolCallAuthRequired',
  'chat/toolCallAuthResolved',
])

function gapInChat({ activeTurn }: ChatState, action: ActionFields): string | undefined {
  const { type, turnId, partId, toolCallId } = action
  if (!live.has(type)) return undefined
  if (!activeTurn || activeTurn.id !== turnId)
    return `${type} names the turn ${turnId}, which is not the active turn here`
  const part = type === 'chat/toolCallStart' ? undefined : (partId ?? toolCallId)
  if (part === undefined || indexOfPart(activeTurn.responseParts, part) >= 0) return undefined
  return `${type} names the part ${part}, which is not there`
}

function gapInSession({ chats }: SessionState, { type, chat }: ActionFields): string | undefined {
  if (type !== 'session/chatUpdated' || chats.some(({ resource }) => resource === chat)) return undefined
  return `${type} names the chat ${chat}, which is not there`
}
