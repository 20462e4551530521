import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { Message, MessageAttachment, ModelSelection } from '@atrium/protocol/chat/message'
import { behind, heldMessages } from '@atrium/protocol/chat/queue'
import type { ChatState } from '@atrium/protocol/chat/state'

/** A message that a person writes. */
export interface Draft {
  readonly text: string
  readonly attachments: readonly MessageAttachment[]
  readonly model?: ModelSelection
}

/** How a message reaches its agent: as a turn of its own now, later, or in the middle of the active turn. */
export type Delivery = 'turn' | 'queue' | 'steer'

export function messageOf({ text, attachments, model }: Draft): Message {
  return {
    text,
    origin: { kind: 'user' },
    ...(attachments.length > 0 && { attachments }),
    ...(model && { model }),
  }
}

export function send(client: Client, state: ChatState, draft: Draft, delivery: Delivery): Promise<Outcome> {
  const message = messageOf(draft)
  const { resource } = state
  if (delivery === 'turn')
    return dispatch(client, resource, { type: 'chat/turnStarted', ...newTurn(), message })
  const pending = delivery === 'steer' ? state.steeringMessage : undefined
  // The message names the turn that it was written behind. If the page is offline, that turn may end before the host gets the
  // message.
  const turn = delivery === 'queue' ? state.activeTurn : undefined
  // A chat holds one steering message: a second one is added to it.
  const merged = pending ? { ...message, text: `${pending.message.text}\n\n${message.text}` } : message
  const sent = turn ? behind(merged, turn.id) : merged
  const kind = delivery === 'steer' ? 'steering' : 'queued'
  return dispatch(client, resource, {
    type: 'chat/pendingMessageSet',
    kind,
    id: pending?.id ?? newId(),
    message: sent,
  })
}

/** Starts a turn with the first message in the queue. Returns undefined if the queue is empty. */
export function startNext(client: Client, state: ChatState): Promise<Outcome> | undefined {
  const first = heldMessages(state)[0] ?? state.queuedMessages?.[0]
  if (!first) return undefined
  const { id: queuedMessageId, message } = first
  return dispatch(client, state.resource, {
    type: 'chat/turnStarted',
    ...newTurn(),
    message,
    queuedMessageId,
  })
}

export function cancelTurn(client: Client, state: ChatState): void {
  const { activeTurn, resource } = state
  if (!activeTurn) return
  const duration = Math.max(0, Date.now() - Date.parse(activeTurn.startedAt)) || 0
  void dispatch(client, resource, { type: 'chat/turnCancelled', turnId: activeTurn.id, duration })
}

/**
 * Dispatches an action of a chat. `client.dispatch` takes actions of every channel; here the type allows only a
 * chat's.
 */
export function dispatch(client: Client, chat: string, action: ChatAction): Promise<Outcome> {
  return client.dispatch(chat, action)
}

function newTurn() {
  return { turnId: newId(), startedAt: new Date().toISOString() }
}
