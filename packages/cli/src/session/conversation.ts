import { userInfo } from 'node:os'
import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Uri } from '@atrium/protocol/channel'
import type { Message, ModelSelection } from '@atrium/protocol/chat/message'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { Problem, exits, sentenceOf } from '../terminal/exit.ts'

/** A session and one of its chats as somebody at a terminal takes part in them. */
export class Conversation {
  readonly client: Client
  readonly session: Subscription<'session'>
  readonly chat: Subscription<'chat'>

  #removed = false

  private constructor(client: Client, session: Subscription<'session'>, chat: Subscription<'chat'>) {
    this.client = client
    this.session = session
    this.chat = chat
    // In one that is disposed of nobody says anything any more; who follows the root is told.
    client.subscribe('root', rootUri)
    client.on('root/sessionRemoved', (gone) => void (this.#removed ||= gone.session === session.uri))
  }

  /** Why nothing will happen here any more, if nothing will. */
  get gone(): Problem | undefined {
    const gone = this.#removed || this.chat.status === 'gone' || this.session.status === 'gone'
    return gone ? new Problem('The session was removed in the middle of this.', exits.notFound) : undefined
  }

  /** With so many of its last turns; in its default chat, where no other is meant. */
  static async open(client: Client, uri: Uri, turns: number, named?: Uri): Promise<Conversation> {
    const session = client.subscribe('session', uri)
    const { defaultChat } = await session.ready().catch((error: unknown) => {
      throw new Problem(`There is no session ${uri}: ${sentenceOf(error)}`, exits.notFound)
    })
    const chat = client.subscribe('chat', named ?? defaultChat ?? defaultChatUri(uri), { view: { turns } })
    await chat.ready()
    return new Conversation(client, session, chat)
  }

  /** Others see that somebody is here, until `leave`; whoever goes without a word is missed after a while. */
  join(as: string): void {
    const displayName = `${userInfo().username} (${as})`
    const activeClient = { clientId: this.client.clientId, displayName, tools: [] }
    void this.session.dispatch({ type: 'session/activeClientSet', activeClient })
  }

  /** Said, and waited for, but not for long: nobody stays because a host does not answer. */
  async leave(): Promise<void> {
    const { clientId, link } = this.client
    if (link.state !== 'live') return this.client.close()
    const said = this.session.dispatch({ type: 'session/activeClientRemoved', clientId })
    await Promise.race([said, new Promise((resolve) => setTimeout(resolve, 500).unref())])
    this.client.close()
  }

  start(
    text: string,
    model?: ModelSelection,
  ): { readonly turnId: string; readonly outcome: Promise<Outcome> } {
    const turnId = newId()
    const startedAt = new Date().toISOString()
    const message = { ...messageOf(text), ...(model && { model }) }
    const outcome = this.chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt, message })
    return { turnId, outcome }
  }

  /** What is meant for the turn that goes on. Only one such message waits: a second is added to it. */
  async steer(text: string): Promise<Outcome> {
    const waiting = this.chat.state?.steeringMessage
    const id = waiting?.id ?? newId()
    const message = messageOf(waiting ? `${waiting.message.text}\n\n${text}` : text)
    const outcome = await this.chat.dispatch({
      type: 'chat/pendingMessageSet',
      kind: 'steering',
      id,
      message,
    })
    // The turn had ended by then: it would wait for the end of the next one.
    const { confirmed } = this.chat
    if (
      outcome.outcome === 'accepted' &&
      confirmed &&
      !confirmed.activeTurn &&
      confirmed.steeringMessage?.id === id
    )
      return this.chat.dispatch({
        type: 'chat/turnStarted',
        turnId: newId(),
        startedAt: new Date().toISOString(),
        message,
        queuedMessageId: id,
      })
    return outcome
  }

  queue(text: string): Promise<Outcome> {
    return this.chat.dispatch({
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: newId(),
      message: messageOf(text),
    })
  }

  /** Nothing where no turn goes on. */
  cancel(): Promise<Outcome> | undefined {
    // One that the host has not heard of yet is begun and cancelled, in that order.
    const turn = this.chat.state?.activeTurn
    if (!turn) return undefined
    const duration = Math.max(0, Date.now() - Date.parse(turn.startedAt)) || 0
    return this.chat.dispatch({ type: 'chat/turnCancelled', turnId: turn.id, duration })
  }

  resume(turnId: string): Promise<Outcome> {
    return this.chat.dispatch({ type: 'chat/turnResume', turnId })
  }

  /** Told once for all that came together. */
  onChange(look: () => void): () => void {
    let soon: NodeJS.Immediate | undefined
    const later = () => {
      soon ??= setImmediate(() => {
        soon = undefined
        look()
      })
    }
    const removed = this.client.on('root/sessionRemoved', later)
    const undo = [this.session.onChange(later), this.chat.onChange(later), removed]
    return () => {
      for (const end of undo) end()
      clearImmediate(soon)
    }
  }
}

function messageOf(text: string): Message {
  return { text, origin: { kind: 'user' } }
}
