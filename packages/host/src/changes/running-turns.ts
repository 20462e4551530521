import type { Uri } from '@atrium/protocol/channel'
import type { CapturedTurn } from './captured-turn.ts'

/** The running turns by chat. Turns that work in the same folder know of each other. */
export class RunningTurns {
  readonly #turns = new Map<Uri, CapturedTurn>()
  /**
   * The turns whose start captures began before their agents were ready (see `TurnCaptures`), and which `takeEarly`
   * has not returned yet.
   */
  readonly #early = new Set<CapturedTurn>()

  get(chat: Uri): CapturedTurn | undefined {
    return this.#turns.get(chat)
  }

  has(chat: Uri): boolean {
    return this.#turns.has(chat)
  }

  enter(chat: Uri, turn: CapturedTurn, { early = false } = {}): void {
    this.leave(chat)
    for (const other of this.#turns.values())
      if (turn.directories.some((directory) => other.meets(directory))) {
        other.joined(turn)
        turn.joined(other)
      }
    this.#turns.set(chat, turn)
    if (early) this.#early.add(turn)
  }

  leave(chat: Uri): CapturedTurn | undefined {
    const turn = this.#turns.get(chat)
    this.#turns.delete(chat)
    if (!turn) return undefined
    this.#early.delete(turn)
    for (const other of this.#turns.values()) other.left(turn)
    return turn
  }

  /**
   * Returns the turn of a chat that was entered with `early`, if it has this id and these directories. A second call
   * returns undefined.
   */
  takeEarly(chat: Uri, turnId: string, directories: readonly string[]): CapturedTurn | undefined {
    const turn = this.#turns.get(chat)
    if (!turn || !this.#early.delete(turn)) return undefined
    const same = turn.turnId === turnId && turn.directories.join('\0') === directories.join('\0')
    return same ? turn : undefined
  }

  /**
   * Tells the turns in a directory that others may just have changed files there. `holder`: the chat that has changed
   * them. Its own turn is not told.
   */
  disturb(directory: string, holder: Uri | undefined): void {
    for (const [chat, turn] of this.#turns) if (chat !== holder && turn.meets(directory)) turn.disturbed()
  }
}
