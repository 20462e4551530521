import type { Uri } from '@atrium/protocol/channel'
import type { OtherHosts } from '../../../ports/other-hosts.ts'
import type { CapturedTurn } from '../captured-turn.ts'

/** The running turns by chat. Turns that work in the same folder know of each other, and other hosts know of them. */
export class RunningTurns {
  readonly #turns = new Map<Uri, CapturedTurn>()
  /** The turns that only wait for a person. They change nothing, so the other turns take them for absent. */
  readonly #waiting = new Set<CapturedTurn>()
  /**
   * The turns whose start captures began before their agents were ready (see `TurnCaptures`), and which `takeEarly`
   * has not returned yet.
   */
  readonly #early = new Set<CapturedTurn>()
  /**
   * The turns that have ended, and whose end captures are not taken yet, with their chats. What others change until then is
   * in those captures, too.
   */
  readonly #ending = new Map<CapturedTurn, Uri>()
  /** The operations that change files now. */
  readonly #operations = new Set<Active>()
  readonly #otherHosts: OtherHosts | undefined
  /** The number of active turns in each directory that other hosts were told last. */
  readonly #noted = new Map<string, number>()

  constructor(otherHosts: OtherHosts | undefined) {
    this.#otherHosts = otherHosts
  }

  get(chat: Uri): CapturedTurn | undefined {
    return this.#turns.get(chat)
  }

  has(chat: Uri): boolean {
    return this.#turns.has(chat)
  }

  enter(chat: Uri, turn: CapturedTurn, { early = false } = {}): void {
    this.leave(chat)
    for (const [place, other] of this.#turns)
      if (areTogether(turn, other)) {
        other.joined(turn, chat)
        if (!this.#waiting.has(other)) turn.joined(other, place)
      }
    for (const other of this.#ending.keys()) if (areTogether(turn, other)) other.joined(turn, chat)
    for (const operation of this.#operations) if (areTogether(operation, turn)) turn.joined(operation)
    this.#turns.set(chat, turn)
    if (early) this.#early.add(turn)
    this.#note(turn)
  }

  /** Notes whether the turn of a chat only waits for a person. */
  setWaiting(chat: Uri, waits: boolean): void {
    const turn = this.#turns.get(chat)
    if (!turn || this.#waiting.has(turn) === waits) return
    if (waits) this.#waiting.add(turn)
    else this.#waiting.delete(turn)
    for (const other of this.#turns.values())
      if (other !== turn && areTogether(turn, other)) {
        if (waits) other.left(turn)
        else other.joined(turn, chat)
      }
    this.#note(turn)
  }

  leave(chat: Uri): CapturedTurn | undefined {
    const turn = this.#turns.get(chat)
    this.#turns.delete(chat)
    if (!turn) return undefined
    this.#early.delete(turn)
    this.#waiting.delete(turn)
    for (const other of this.#turns.values()) other.left(turn)
    this.#note(turn)
    return turn
  }

  /** Like `leave`, for a turn that has ended. It still learns of others, until `captured` is called. */
  end(chat: Uri): CapturedTurn | undefined {
    const turn = this.#turns.get(chat)
    if (turn) this.#ending.set(turn, chat)
    return this.leave(chat)
  }

  /** Called when the end capture of a turn is taken. */
  captured(turn: CapturedTurn): void {
    this.#ending.delete(turn)
    this.#note(turn)
  }

  /**
   * Changes files of these directories for an operation. Meanwhile, the turns there and other hosts take the operation for an
   * active turn.
   */
  async changing<T>(directories: readonly string[], work: () => Promise<T>): Promise<T> {
    const operation = { directories }
    const turns = () => [...this.#turns.values(), ...this.#ending.keys()]
    this.#operations.add(operation)
    for (const turn of turns()) if (areTogether(operation, turn)) turn.joined(operation)
    this.#note(operation)
    try {
      return await work()
    } finally {
      this.#operations.delete(operation)
      for (const turn of turns()) turn.left(operation)
      this.#note(operation)
    }
  }

  /** Tells other hosts that no turn of this host is active any more. */
  stop(): void {
    for (const directory of this.#noted.keys()) this.#otherHosts?.note(directory, 0)
    this.#noted.clear()
  }

  /** Tells other hosts how many turns are active in these directories, if the number has changed. */
  #note({ directories }: Active): void {
    const turns = [...this.#turns.values(), ...this.#ending.keys()].filter((turn) => !this.#waiting.has(turn))
    const active: readonly Active[] = [...turns, ...this.#operations]
    for (const directory of directories) {
      const count = active.filter((each) => each.directories.includes(directory)).length
      if (count === (this.#noted.get(directory) ?? 0)) continue
      if (count === 0) this.#noted.delete(directory)
      else this.#noted.set(directory, count)
      this.#otherHosts?.note(directory, count)
    }
  }

  /**
   * Returns the running turn of a chat if its start capture began early (see `#early`), and if it has this id and these
   * directories. Only the first call for a turn returns it.
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
    const turns = [...this.#turns].map(([chat, turn]) => [turn, chat] as const)
    for (const [turn, chat] of [...turns, ...this.#ending])
      if (chat !== holder && turn.meets(directory)) turn.disturbed()
  }
}

/** A turn, or an operation. */
type Active = Pick<CapturedTurn, 'directories'>

/** Whether two of them work in the same folder, or one works in a folder that contains a folder of the other. */
function areTogether({ directories }: Active, turn: CapturedTurn): boolean {
  return directories.some((directory) => turn.meets(directory))
}
