import type { Subscription } from '@atrium/client/sync/handle'
import { newId } from '@atrium/client/shared/globals'
import type { Message } from '@atrium/protocol/chat/message'
import type { ActiveTurn, ChatState, Turn } from '@atrium/protocol/chat/state'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { accepted } from '../link/dispatch.ts'

type Chat = Subscription<'chat'>

/** What became of a message: a turn of its own, one in the queue, or a word to the turn that goes on. */
export interface Sent {
  readonly as: 'turn' | 'queued' | 'steering'
  /** Of the turn, or of the message that waits. */
  readonly id: string
  /** The turn that it was said into. */
  readonly during?: string
}

/** Begins a turn in a chat at rest. While one goes on the message waits for its end, or steers it. */
export async function say(chat: Chat, text: string, steer = false): Promise<Sent> {
  const { activeTurn, queuedMessages } = await chat.ready()
  const id = newId()
  // A message that waits becomes a turn with an id of its own; by this it is known again.
  const message: Message = { text, origin: { kind: 'user' }, _meta: { 'x-atrium': { sent: id } } }
  if (!activeTurn && !queuedMessages) {
    const startedAt = new Date().toISOString()
    const outcome = await chat.dispatch({ type: 'chat/turnStarted', turnId: id, startedAt, message })
    if (outcome.outcome === 'accepted') return { as: 'turn', id }
    // Somebody else was faster: then it waits like any other.
    if (!chat.state?.activeTurn) accepted(outcome)
  }
  const during = chat.state?.activeTurn?.id
  const as = steer && during !== undefined ? 'steering' : 'queued'
  accepted(await chat.dispatch({ type: 'chat/pendingMessageSet', kind: as, id, message }))
  return { as, id, ...(during !== undefined && { during }) }
}

/** The turn that a message became, or was said into, once that is over. */
export async function endOf(chat: Chat, { as, id, during }: Sent): Promise<Turn> {
  const own = (turn: Turn | ActiveTurn) => turn.id === id || markOf(turn) === id
  const over = ({ turns }: ChatState) => turns.find(own)
  const begun = (state: ChatState) => over(state) ?? (state.activeTurn && own(state.activeTurn))
  await chat.until((state) => Boolean(begun(state)) || !waits(state, id))
  if (as === 'steering' && chat.state?.activeTurn?.id === during) {
    // Its agent has taken it up.
    const { turns } = await chat.until(({ activeTurn }) => activeTurn?.id !== during)
    const turn = turns.find((each) => each.id === during)
    if (turn && !(chat.state && waits(chat.state, id))) return turn
  }
  await Promise.race([chat.until((state) => Boolean(begun(state))), takenAway()])
  const turn = over(await chat.until((state) => over(state) !== undefined))
  return turn as Turn
}

/** How a command that waited for a turn exits. One in which somebody said no has not done what was asked. */
export function exitOf({ state, responseParts }: Turn): Exit {
  if (state === 'cancelled') return exits.interrupted
  if (state === 'error') return exits.error
  const denied = responseParts.some(
    (part) =>
      part.kind === 'toolCall' && part.toolCall.status === 'cancelled' && part.toolCall.reason === 'denied',
  )
  return denied ? exits.denied : exits.ok
}

/** What an agent said in a turn, without its thoughts and its tools. */
export function answerIn({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('')
}

/** Why a turn failed, in its agent's words. */
export function failureIn({ responseParts }: Turn): string | undefined {
  const part = responseParts.findLast(({ kind }) => kind === 'error')
  return part?.kind === 'error' ? part.error.message : undefined
}

function markOf({ message }: Turn | ActiveTurn): unknown {
  return (message._meta?.['x-atrium'] as { readonly sent?: unknown } | undefined)?.sent
}

function waits({ steeringMessage, queuedMessages }: ChatState, id: string): boolean {
  return steeringMessage?.id === id || (queuedMessages ?? []).some((message) => message.id === id)
}

/** It leaves the queue a moment before its turn begins. If none does, somebody took it out. */
function takenAway(): Promise<never> {
  return new Promise((_, reject) => {
    const problem = new Problem('Somebody took the message out of the queue; send it again.')
    setTimeout(() => reject(problem), 2_000).unref()
  })
}
