import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { sessionOfAnnotations } from '@atrium/protocol/uri'
import type { Disk } from '../disk.ts'
import type { ChatIndex } from './chat-index.ts'
import type { ReferenceModel } from './reference-model.ts'

/** Sessions that were used, each with the transaction of the first use: a title was set, or a chat of it got content. */
export class UsedSessions {
  readonly #model: ReferenceModel
  readonly #disk: Disk
  readonly #chatIndex: ChatIndex
  /** Whether the clients create sessions in advance. Otherwise a session counts as used from its creation on. */
  readonly #inAdvance: boolean
  readonly #used = new Map<Uri, number>()

  constructor(model: ReferenceModel, disk: Disk, chatIndex: ChatIndex, inAdvance: boolean) {
    this.#model = model
    this.#disk = disk
    this.#chatIndex = chatIndex
    this.#inAdvance = inAdvance
  }

  has(session: Uri): boolean {
    return this.#used.has(session)
  }

  /** Whether the first use is durable. */
  isDurable(session: Uri): boolean {
    return (this.#used.get(session) ?? Infinity) < this.#disk.durable
  }

  add(session: Uri, at: number): void {
    if (!this.has(session)) this.#used.set(session, at)
  }

  /**
   * Marks a session as used if an action uses it. Each action is looked at, because the state after a step may not
   * show the use: a draft may be set and removed in one step.
   */
  observeAction(uri: Uri, action: Action, at: number): void {
    const { draft } = action as { readonly draft?: unknown }
    // A session with a comment counts as used.
    const annotated = action.type.startsWith('annotations/') ? sessionOfAnnotations(uri) : undefined
    if (annotated !== undefined) this.add(annotated, at)
    const session = this.#chatIndex.sessionOf(uri)
    const uses = draft !== undefined || action.type === 'chat/pendingMessageSet'
    if (session !== undefined && uses) this.add(session, at)
  }

  /** A session that the host creates for a moved chat is empty at first, and used when the chat is in it. */
  observeCreation(uri: Uri, at: number): void {
    if (this.#inAdvance || this.#model.channels.get(uri)?.kind.name !== 'session') return
    const { chats } = this.#model.stateAt(uri, Infinity) as SessionState
    if (chats.length > 0) this.add(uri, at)
  }

  observeState(uri: Uri, at: number): void {
    const state = this.#model.stateAt(uri, Infinity)
    const kind = this.#model.channels.get(uri)?.kind.name
    const chat = kind === 'chat' ? (state as ChatState) : undefined
    const session = chat ? this.#chatIndex.sessionOf(uri) : uri
    if (kind !== 'chat' && kind !== 'session') return
    if (session === undefined || this.has(session) || !session.startsWith('ahp-session:')) return
    const used = chat
      ? (chat.activeTurn ?? chat.turns[0] ?? chat.queuedMessages ?? chat.steeringMessage ?? chat.draft)
      : this.#model.live(uri) && (state as SessionState).title
    if (used !== undefined && used !== '') this.add(session, at)
  }

  crashed(left: number): void {
    for (const [uri, at] of this.#used) if (at >= left) this.#used.delete(uri)
  }
}
