import { userInfo } from 'node:os'
import { ActiveClient } from '@atrium/client/active-client'
import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Uri } from '@atrium/protocol/channel'
import type { ModelSelection } from '@atrium/protocol/chat/message'
import { heldMessages } from '@atrium/protocol/chat/queue'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { takesSteering } from '@atrium/protocol/root/readiness'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { CommandError, exitFor, exits, sentenceOf } from '../terminal/exit.ts'
import { messageOf, steer } from './steering.ts'

/** A session and one of its chats, as a user at a terminal takes part in them. */
export class Conversation {
  readonly client: Client
  readonly session: Subscription<'session'>
  readonly chat: Subscription<'chat'>

  readonly #root: Subscription<'root'>
  #removed = false
  #active: ActiveClient | undefined

  private constructor(client: Client, session: Subscription<'session'>, chat: Subscription<'chat'>) {
    this.client = client
    this.session = session
    this.chat = chat
    // A disposed session sends no more actions. The notification of its removal comes on the root channel.
    this.#root = client.subscribe('root', rootUri)
    client.on('root/sessionRemoved', (gone) => void (this.#removed ||= gone.session === session.uri))
  }

  /** Whether the agent takes a message into the turn that runs. Undefined if nobody knows. */
  get takesSteering(): boolean | undefined {
    return takesSteering(this.#root.state?.agents, this.session.state?.provider)
  }

  /** The error of a removed session; undefined while the session exists. */
  get gone(): CommandError | undefined {
    const isSession = this.#removed || this.session.status === 'gone'
    if (!isSession && this.chat.status !== 'gone') return undefined
    const what = isSession ? 'session' : 'chat'
    return new CommandError(`The ${what} was removed in the middle of this.`, exits.notFound)
  }

  /** Subscribes to a session and to one of its chats, by default the default chat, with its last `turns` turns. */
  static async open(client: Client, uri: Uri, turns: number, chatUri?: Uri): Promise<Conversation> {
    const session = client.subscribe('session', uri)
    const state = await session.ready().catch((error: unknown) => {
      const isMissing = error instanceof AhpError && error.code === errorCodes.NotFound
      const exit = isMissing ? exits.notFound : exitFor(error)
      throw new CommandError(`The session ${uri} cannot be opened: ${sentenceOf(error)}`, exit)
    })
    const chat = client.subscribe('chat', chatUri ?? primaryChat(state) ?? defaultChatUri(uri), {
      view: { turns },
    })
    await chat.ready()
    return new Conversation(client, session, chat)
  }

  /** Adds this client to the active clients of the session, which other clients see. */
  join(program: string): void {
    const displayName = `${userInfo().username} (${program})`
    const entry = { clientId: this.client.clientId, displayName, tools: [] }
    this.#active = new ActiveClient(this.session, () => entry)
    void this.#active.join()
  }

  /** Removes this client from the active clients and disconnects. Waits for the host 500 ms at most. */
  async leave(): Promise<void> {
    if (this.client.link.state !== 'live') return this.client.close()
    const removed = this.#active?.leave()
    await Promise.race([removed, new Promise((resolve) => setTimeout(resolve, 500).unref())])
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

  steer(text: string): Promise<Outcome> {
    return steer(this.chat, text)
  }

  queue(text: string): Promise<Outcome> {
    return this.chat.dispatch({
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: newId(),
      message: messageOf(text),
    })
  }

  /** Starts a turn with the first message that waits; returns undefined if there is none. */
  startNext(): Promise<Outcome> | undefined {
    const { confirmed } = this.chat
    const first = confirmed && (heldMessages(confirmed)[0] ?? confirmed.queuedMessages?.[0])
    if (!first) return undefined
    return this.chat.dispatch({
      type: 'chat/turnStarted',
      turnId: newId(),
      startedAt: new Date().toISOString(),
      message: first.message,
      queuedMessageId: first.id,
    })
  }

  /** Cancels the active turn; returns undefined if there is none. */
  cancel(): Promise<Outcome> | undefined {
    // The optimistic state may contain a turn that is not confirmed yet. The host then gets the start of that turn first,
    // and the cancellation after it.
    const turn = this.chat.state?.activeTurn
    if (!turn) return undefined
    const duration = Math.max(0, Date.now() - Date.parse(turn.startedAt)) || 0
    return this.chat.dispatch({ type: 'chat/turnCancelled', turnId: turn.id, duration })
  }

  resume(turnId: string): Promise<Outcome> {
    return this.chat.dispatch({ type: 'chat/turnResume', turnId })
  }

  /** Calls `listener` once for all changes that arrive together. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    let scheduled: NodeJS.Immediate | undefined
    const schedule = () => {
      scheduled ??= setImmediate(() => {
        scheduled = undefined
        listener()
      })
    }
    const removed = this.client.on('root/sessionRemoved', schedule)
    const unsubscribes = [this.session.onChange(schedule), this.chat.onChange(schedule), removed]
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe()
      clearImmediate(scheduled)
    }
  }
}
