import type { Uri } from '@atrium/protocol/channel'

/** The session of each chat. It changes in the step of its cause, before that step is committed. */
export class ChatIndex {
  readonly #sessions = new Map<Uri, Uri>()
  /** For each chat with moves that are not committed: the sessions it has left, oldest first. */
  readonly #left = new Map<Uri, readonly Uri[]>()

  of(chat: Uri): Uri | undefined {
    return this.#sessions.get(chat)
  }

  /** Returns the sessions of which one holds the chat in the committed state. */
  committedAmong(chat: Uri): readonly Uri[] {
    const session = this.of(chat)
    return [...(this.#left.get(chat) ?? []), ...(session === undefined ? [] : [session])]
  }

  add(chat: Uri, session: Uri): void {
    this.#sessions.set(chat, session)
  }

  /** Moves a chat to a session. Call the returned function once the move is committed. */
  move(chat: Uri, session: Uri): () => void {
    this.#left.set(chat, this.committedAmong(chat))
    this.add(chat, session)
    return () => {
      const [, ...others] = this.#left.get(chat) ?? []
      if (others.length > 0) this.#left.set(chat, others)
      else this.#left.delete(chat)
    }
  }

  /** Forgets a disposed chat. Where its session is given, only if the chat is still in that one. */
  forget(chat: Uri, session = this.of(chat)): void {
    if (this.of(chat) === session) this.#sessions.delete(chat)
  }
}
