import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'

/**
 * The session of each chat. The index changes in the transaction that adds, moves or removes the chat, before that
 * transaction is committed.
 */
export class ChatIndex {
  readonly #sessions = new Map<Uri, Uri>()
  /**
   * The stored entries of the session list whose chats are not indexed yet. They are indexed at the first look-up, so that a
   * start is shorter.
   */
  #stored: SessionSummary[] = []
  /** For each chat with uncommitted moves: the sessions that the chat has left, oldest first. */
  readonly #left = new Map<Uri, readonly Uri[]>()

  /** Takes the chats of a stored entry of the session list. Must be called before any other method. */
  load(summary: SessionSummary): void {
    this.#stored.push(summary)
  }

  of(chat: Uri): Uri | undefined {
    return this.#loaded.get(chat)
  }

  /**
   * Returns the sessions that may have the chat in their committed states: those that it has left by uncommitted
   * moves, and the one that it is in now.
   */
  committedAmong(chat: Uri): readonly Uri[] {
    const session = this.of(chat)
    return [...(this.#left.get(chat) ?? []), ...(session === undefined ? [] : [session])]
  }

  add(chat: Uri, session: Uri): void {
    this.#loaded.set(chat, session)
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

  /** Forgets a disposed chat. If a session is given, the chat is forgotten only if it is still in that session. */
  forget(chat: Uri, session = this.of(chat)): void {
    if (this.of(chat) === session) this.#loaded.delete(chat)
  }

  get #loaded(): Map<Uri, Uri> {
    if (this.#stored.length > 0) {
      for (const { resource: session, chats = [] } of this.#stored)
        for (const { resource } of chats) this.#sessions.set(resource, session)
      this.#stored = []
    }
    return this.#sessions
  }
}
