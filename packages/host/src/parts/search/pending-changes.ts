import type { Action, Uri } from '@atrium/protocol/channel'

/**
 * The maximum number of turns of a chat that are remembered one by one. With more, the whole chat is indexed again.
 */
const mostTurns = 500

/** What must be indexed again in a chat. */
export interface PendingChat {
  /** The ids of the turns that have ended or were resumed. `all`: every turn. */
  readonly turns: Set<string> | 'all'
  /** Whether turns may have been removed. */
  readonly cut: boolean
}

/** What has changed in a session since it was last indexed. It has ids of turns and no texts, so it stays small. */
export class PendingChanges {
  readonly #chats = new Map<Uri, PendingChat>()
  /** Whether it is not known what has changed, so that every turn of every chat is indexed again. */
  everything = false

  /** Whether turns of a chat may have been removed. */
  get cut(): boolean {
    return [...this.#chats.values()].some(({ cut }) => cut)
  }

  of(chat: Uri): PendingChat | undefined {
    return this.everything ? { turns: 'all', cut: true } : this.#chats.get(chat)
  }

  wholeChat(chat: Uri): void {
    this.#chats.set(chat, { turns: 'all', cut: true })
  }

  /** Notes a committed action of a chat. Returns whether it changes what the index must have. */
  committed(chat: Uri, action: Action): boolean {
    const { turns, cut } = this.#chats.get(chat) ?? { turns: new Set<string>(), cut: false }
    if (action.type === 'chat/truncated') {
      this.#chats.set(chat, { turns, cut: true })
      return true
    }
    const turnId = changedTurn(action)
    if (turnId === undefined) return false
    if (turns !== 'all' && turns.size >= mostTurns) this.wholeChat(chat)
    else this.#chats.set(chat, { turns: turns === 'all' ? turns : turns.add(turnId), cut })
    return true
  }
}

const turnTypes = new Set(['chat/turnComplete', 'chat/turnCancelled', 'chat/error', 'chat/turnResume'])

/** The id of the turn that an action ends or resumes; undefined for other actions. */
function changedTurn(action: Action & { readonly turnId?: unknown }): string | undefined {
  const { type, turnId } = action
  return turnTypes.has(type) && typeof turnId === 'string' ? turnId : undefined
}
