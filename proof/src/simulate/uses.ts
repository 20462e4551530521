import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { Disk } from './disk.ts'
import type { Homes } from './homes.ts'
import type { Truth } from './truth.ts'

/** Which sessions were used, each with the transaction from which on: it has a title, or a chat of it anything in it. */
export class Uses {
  readonly #truth: Truth
  readonly #disk: Disk
  readonly #homes: Homes
  readonly #used = new Map<Uri, number>()

  constructor(truth: Truth, disk: Disk, homes: Homes) {
    this.#truth = truth
    this.#disk = disk
    this.#homes = homes
  }

  has(session: Uri): boolean {
    return this.#used.has(session)
  }

  /** The step from which on it is, has come to be safe. */
  isSafe(session: Uri): boolean {
    return (this.#used.get(session) ?? Infinity) < this.#disk.durable
  }

  add(session: Uri, at: number): void {
    if (!this.has(session)) this.#used.set(session, at)
  }

  /** What a step leaves may not show it: a draft is set and taken back in one. */
  word(uri: Uri, action: Action, at: number): void {
    const { draft } = action as { readonly draft?: unknown }
    const session = this.#homes.of(uri)
    const uses = draft !== undefined || action.type === 'chat/pendingMessageSet'
    if (session !== undefined && uses) this.add(session, at)
  }

  look(uri: Uri, at: number): void {
    const state = this.#truth.stateAt(uri, Infinity)
    const chat = uri.startsWith('ahp-chat:') ? (state as ChatState) : undefined
    const session = chat ? this.#homes.of(uri) : uri
    if (session === undefined || this.has(session) || !session.startsWith('ahp-session:')) return
    const used = chat
      ? (chat.activeTurn ?? chat.turns[0] ?? chat.queuedMessages ?? chat.steeringMessage ?? chat.draft)
      : this.#truth.living(uri) && (state as SessionState).title
    if (used !== undefined && used !== '') this.add(session, at)
  }

  crashed(left: number): void {
    for (const [uri, at] of this.#used) if (at >= left) this.#used.delete(uri)
  }
}
