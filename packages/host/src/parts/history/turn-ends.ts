import type { Action } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { lengthOf } from '../../kernel/log/rows.ts'
import type { Moment, PastState } from './saved-states.ts'

interface Change {
  readonly before: PastState
  readonly after: PastState
  /** The first state of the history. */
  readonly begin: PastState
}

/**
 * The moments at which the turns of a chat ended. A truncation hides everything between the end of the last turn that
 * it keeps and the truncation.
 */
export class TurnEnds {
  readonly #ends = new Map<string, Moment>()
  /** The pending message from which each turn was started. */
  readonly #messages = new Map<string, string>()
  readonly takenMessages = new Set<string>()

  /**
   * Notes an action. For a truncation that removes turns, returns the last moment that stays. Returns `everything` if
   * no moment of the history stays, because even its first state has turns that are removed.
   */
  apply(action: Action, { before, after, begin }: Change): Moment | 'everything' | undefined {
    const was = chatIn(before)
    const now = chatIn(after)
    const { turnId, queuedMessageId } = namesIn(action)
    if (action.type === 'chat/turnStarted' && turnId !== undefined && queuedMessageId !== undefined)
      this.#messages.set(turnId, queuedMessageId)
    if (action.type === 'chat/truncated') return now === was ? undefined : this.#cut(turnId, now, begin)
    const ended = now.turns.length > was.turns.length ? now.turns.at(-1) : undefined
    if (!ended || action.type === 'chat/turnsLoaded') return undefined
    this.#ends.set(ended.id, { seq: after.seq, position: after.position })
    // The length is cached here, so that the length of all turns is never counted at once.
    lengthOf(ended)
    return undefined
  }

  #cut(kept: string | undefined, now: ChatState, begin: PastState): Moment | 'everything' {
    const left = new Set(now.turns.map(({ id }) => id))
    for (const [turn, message] of this.#messages) {
      if (left.has(turn)) continue
      this.takenMessages.add(message)
      this.#messages.delete(turn)
    }
    for (const turn of this.#ends.keys()) if (!left.has(turn)) this.#ends.delete(turn)
    const end = kept === undefined ? undefined : this.#ends.get(kept)
    if (end) return end
    const { turns, activeTurn } = chatIn(begin)
    return activeTurn === undefined && turns.at(-1)?.id === kept ? begin : 'everything'
  }
}

/** The state of a chat. The cast is safe: only histories of chats are given to this file. */
function chatIn({ state }: PastState): ChatState {
  return state as ChatState
}

interface Names {
  readonly turnId?: string
  readonly queuedMessageId?: string
}

/** The ids in an action of a turn. The cast is safe: a schema had checked each action before it was stored. */
function namesIn(action: Action): Names {
  return action as Names
}
