import type { Action, Uri } from '@atrium/protocol/channel'

/** The maximum number of turns of a chat that are remembered one by one. With more changes, the whole chat is looked at. */
const mostTurns = 500

/** What is to be looked at in a chat. */
export interface PendingChat {
  /** The turns that have ended or gone on. `all`: every turn. */
  readonly turns: Set<string> | 'all'
  /** Whether turns may have been removed. */
  readonly cut: boolean
}

/** What has changed in a session since the index was fed. It names turns and has no texts, so it stays small. */
export class PendingChanges {
  readonly #chats = new Map<Uri, PendingChat>()
  /** Whether nothing is known of what has changed, so that every chat is looked at. */
  everything = false

  /** Whether turns were removed. */
  get cut(): boolean {
    return [...this.#chats.values()].some(({ cut }) => cut)
  }

  of(chat: Uri): PendingChat | undefined {
    return this.everything ? { turns: 'all', cut: true } : this.#chats.get(chat)
  }

  wholeChat(chat: Uri): void {
    this.#chats.set(chat, { turns: 'all', cut: true })
  }

  /** Notes a committed action of a chat. Returns whether it matters. */
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

/** The turn that an action ends or resumes. */
function changedTurn(action: Action & { readonly turnId?: unknown }): string | undefined {
  const { type, turnId } = action
  return turnTypes.has(type) && typeof turnId === 'string' ? turnId : undefined
}
