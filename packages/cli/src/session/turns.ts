import type { Subscription } from '@atrium/client/sync/handle'
import { newId } from '@atrium/client/shared/globals'
import type { Message } from '@atrium/protocol/chat/message'
import { holdsMessages, isQueueHeld } from '@atrium/protocol/chat/queue'
import type { ActiveTurn, ChatState, Turn } from '@atrium/protocol/chat/state'
import { CommandError, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { assertAccepted } from '../link/dispatch.ts'

type Chat = Subscription<'chat'>

/** A message that was sent: it started a turn, waits in the queue, or steers the active turn. */
export interface Sent {
  readonly as: 'turn' | 'queued' | 'steering'
  /** The id of the turn, or of the pending message. */
  readonly id: string
  /** The turn that was active when the message was sent. */
  readonly during?: string
}

/** Starts a turn in an idle chat. In a busy chat the message is queued, or steers the active turn. */
export async function sendMessage(chat: Chat, text: string, steer = false): Promise<Sent> {
  const state = await chat.ready()
  const id = newId()
  // A queued message becomes a turn with another id. `sent` identifies that turn.
  const message: Message = { text, origin: { kind: 'user' }, _meta: { 'x-atrium': { sent: id } } }
  if (!state.activeTurn && (!state.queuedMessages || isQueueHeld(state))) {
    const startedAt = new Date().toISOString()
    const outcome = await chat.dispatch({ type: 'chat/turnStarted', turnId: id, startedAt, message })
    if (outcome.outcome === 'accepted') return { as: 'turn', id }
    // If another client started a turn first, the message is queued or steers that turn, see below.
    if (!chat.state?.activeTurn) assertAccepted(outcome)
  }
  const during = chat.state?.activeTurn?.id
  const as = steer && during !== undefined ? 'steering' : 'queued'
  assertAccepted(await chat.dispatch({ type: 'chat/pendingMessageSet', kind: as, id, message }))
  return { as, id, ...(during !== undefined && { during }) }
}

/** Waits for the end of the turn that a message started or steered. */
export async function endedTurn(chat: Chat, { as, id, during }: Sent): Promise<Turn> {
  const isOwn = (turn: Turn | ActiveTurn) => turn.id === id || sentId(turn) === id
  const ended = ({ turns }: ChatState) => turns.find(isOwn)
  const started = (state: ChatState) => ended(state) ?? (state.activeTurn && isOwn(state.activeTurn))
  const held = (state: ChatState) => isPending(state, id) && holdsMessages(state)
  const now = await chat.until((state) => Boolean(started(state)) || !isPending(state, id) || held(state))
  if (held(now))
    throw new CommandError(
      'The turn before it was cancelled or failed, so the message waits. It starts after the next turn that completes.',
      exits.interrupted,
    )
  if (as === 'steering' && chat.state?.activeTurn?.id === during) {
    // The steering message is no longer pending: the agent has taken it into the active turn. Wait for the end of
    // this turn.
    const { turns } = await chat.until(({ activeTurn }) => activeTurn?.id !== during)
    const turn = turns.find((each) => each.id === during)
    if (turn && !(chat.state && isPending(chat.state, id))) return turn
    return endedTurn(chat, { as, id })
  }
  await Promise.race([chat.until((state) => Boolean(started(state))), removedFromQueue()])
  const turn = ended(await chat.until((state) => ended(state) !== undefined))
  if (!turn) throw new Error('the awaited turn is not in the chat')
  return turn
}

/** Returns the exit code of a command that waited for a turn. A turn with a denied tool call or result exits with 5. */
export function exitOf({ state, responseParts }: Turn): Exit {
  if (state === 'cancelled') return exits.interrupted
  if (state === 'error') return exits.error
  const denied = responseParts.some(
    (part) =>
      part.kind === 'toolCall' &&
      part.toolCall.status === 'cancelled' &&
      (part.toolCall.reason === 'denied' || part.toolCall.reason === 'result-denied'),
  )
  return denied ? exits.denied : exits.ok
}

/** Returns the text of the agent in a turn, without reasoning and tool calls. */
export function answerText({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('')
}

/** Returns the error message of a failed turn. */
export function failureOf({ responseParts }: Turn): string | undefined {
  const part = responseParts.findLast(({ kind }) => kind === 'error')
  return part?.kind === 'error' ? part.error.message : undefined
}

function sentId({ message }: Turn | ActiveTurn): unknown {
  const meta = message._meta?.['x-atrium']
  return typeof meta === 'object' && meta !== null && 'sent' in meta ? meta.sent : undefined
}

function isPending({ steeringMessage, queuedMessages }: ChatState, id: string): boolean {
  return steeringMessage?.id === id || (queuedMessages ?? []).some((message) => message.id === id)
}

/**
 * Rejects after two seconds. A message leaves the queue a moment before its turn starts. If no turn has started after two
 * seconds, a client removed the message.
 */
function removedFromQueue(): Promise<never> {
  return new Promise((_, reject) => {
    const error = new CommandError('Somebody took the message out of the queue; send it again.')
    setTimeout(() => reject(error), 2_000).unref()
  })
}
