import type { Uri } from '@atrium/protocol/channel'

/** The session that each chat is in. It changes in the step of its cause; what everyone has been told follows. */
export class ChatIndex {
  readonly #sessions = new Map<Uri, Uri>()
  /** Those that a chat has left, the oldest first, until everyone has been told. */
  readonly #left = new Map<Uri, readonly Uri[]>()

  of(chat: Uri): Uri | undefined {
    return this.#sessions.get(chat)
  }

  /** The one that it is in by what everyone has been told is among these. */
  committedAmong(chat: Uri): readonly Uri[] {
    const home = this.of(chat)
    return [...(this.#left.get(chat) ?? []), ...(home === undefined ? [] : [home])]
  }

  /** A chat is born there. */
  add(chat: Uri, session: Uri): void {
    this.#sessions.set(chat, session)
  }

  /** A chat is there from now on. Gives what is to be done when everyone has been told. */
  move(chat: Uri, session: Uri): () => void {
    this.#left.set(chat, this.committedAmong(chat))
    this.add(chat, session)
    return () => {
      const [, ...others] = this.#left.get(chat) ?? []
      if (others.length > 0) this.#left.set(chat, others)
      else this.#left.delete(chat)
    }
  }

  /** A chat is no more; or, where a session is given, it went with that, if it was still there. */
  forget(chat: Uri, session = this.of(chat)): void {
    if (this.of(chat) === session) this.#sessions.delete(chat)
  }
}
