import type { Uri } from '@atrium/protocol/channel'
import { RecordMap } from '../../../kernel/record-map.ts'
import type { Records } from '../../../ports/records.ts'
import { countOf, parseTurnKey, readTurnRecord } from '../turn-record.ts'
import type { TurnCount } from '../turn-record.ts'

/** The maximum of the captures of one session, and of all sessions together, in bytes. */
export interface ByteBudget {
  readonly session: number
  readonly all: number
}

/**
 * What is known about the finished turns of a chat that have captures: an upper bound of the bytes of their captures,
 * and the place of the newest of them in the order of all turns.
 */
interface ChatSum {
  readonly bytes: number
  readonly order: number
}

/**
 * The bytes that finished turns take of the budgets for captures. A sum for each chat is stored and kept in memory,
 * so that the records of all turns are read only if a budget may be exceeded. A sum can be too large:
 * for example, a resumed turn is added twice. The sum is corrected when the records are read.
 */
export class TurnCounts {
  readonly #records: Records
  readonly #prefix: string
  readonly #sums: RecordMap<ChatSum>
  /** The bytes of each turn, by key. Undefined until the records are read. */
  #exact: Map<string, TurnCount> | undefined
  #reading: Promise<void> | undefined
  /** The turns that have changed while the records are being read. */
  readonly #changes = new Map<string, TurnCount | undefined>()

  private constructor(records: Records, prefix: string, sums: RecordMap<ChatSum>) {
    this.#records = records
    this.#prefix = prefix
    this.#sums = sums
  }

  /** `prefix`: the beginning of the keys of the records of turns. */
  static async open(records: Records, prefix: string): Promise<TurnCounts> {
    // The cast is safe: `write` of this format has written the text.
    const format = { read: (text: string) => JSON.parse(text) as ChatSum, write: JSON.stringify }
    const sums = await RecordMap.open(records, sumPrefix, format)
    // Without one sum the others are no upper bound. They are computed again when they are needed.
    if (records.setAsideIn?.(sumPrefix).length) sums.delete(complete)
    return new TurnCounts(records, prefix, sums)
  }

  /** Adds the bytes of a finished turn to the sum of its chat. */
  add(key: string, count: TurnCount | undefined): void {
    this.set(key, count)
    if (!count) return
    const { chat } = parseTurnKey(key)
    const { bytes, order } = this.#sums.get(chat) ?? none
    this.#sums.set(chat, { bytes: bytes + count.bytes, order: Math.max(order, count.order) })
  }

  /** Notes the bytes of a turn after a change of its record. The sum of its chat is not changed. */
  set(key: string, count: TurnCount | undefined): void {
    if (this.#exact && count) this.#exact.set(key, count)
    else if (this.#exact) this.#exact.delete(key)
    else if (this.#reading) this.#changes.set(key, count)
  }

  /** Subtracts the bytes of a turn from the sum of its chat, because its captures are gone. */
  remove(key: string, count: TurnCount | undefined): void {
    this.set(key, undefined)
    const { chat } = parseTurnKey(key)
    const sum = this.#sums.get(chat)
    if (sum && count) this.#sums.set(chat, { ...sum, bytes: Math.max(0, sum.bytes - count.bytes) })
  }

  /** Deletes the sum of a chat that has no turns with captures any more. */
  removeAll(chat: Uri): void {
    this.#sums.delete(chat)
  }

  /** The place of the next turn in the order of all turns. */
  async nextOrder(): Promise<number> {
    await this.#complete()
    return this.#sums.values().reduce((most, { order }) => Math.max(most, order), 0) + 1
  }

  /**
   * Whether the sums exceed a budget. The sums are upper bounds: if they are within the budgets, so are the turns.
   */
  async mayExceed(budget: ByteBudget, sessionOf: (chat: Uri) => Uri | undefined): Promise<boolean> {
    await this.#complete()
    const sessions = new Map<Uri, number>()
    for (const [chat, { bytes }] of this.#sums.entries()) {
      const session = sessionOf(chat)
      if (session !== undefined) sessions.set(session, (sessions.get(session) ?? 0) + bytes)
    }
    const all = [...sessions.values()]
    return (
      all.reduce((sum, bytes) => sum + bytes, 0) > budget.all || all.some((bytes) => bytes > budget.session)
    )
  }

  /**
   * Returns the exact bytes of each finished turn that has captures, by key. The first call reads the records of all
   * turns, and corrects the sums.
   */
  async exact(): Promise<ReadonlyMap<string, TurnCount>> {
    await (this.#reading ??= this.#read())
    return this.#exact ?? new Map()
  }

  /** Computes the sums if the store has none, because an earlier version of the host has written it. */
  async #complete(): Promise<void> {
    if (!this.#sums.has(complete)) await this.exact()
  }

  async #read(): Promise<void> {
    const stored = await this.#records.list(this.#prefix)
    const read = stored.map(
      ([key, text]) => [key.slice(this.#prefix.length), countOf(readTurnRecord(text))] as const,
    )
    // No `await` may follow: a turn that ends in between would not be counted.
    const all = [...new Map([...read, ...this.#changes])]
    this.#exact = new Map(all.flatMap(([key, count]) => (count ? [[key, count] as const] : [])))
    this.#changes.clear()
    for (const chat of this.#sums.keys()) this.#sums.delete(chat)
    for (const [key, count] of this.#exact) this.add(key, count)
    this.#sums.set(complete, none)
  }
}

const sumPrefix = 'capture-sum/'
const none: ChatSum = { bytes: 0, order: 0 }

/** A key of the sums that is no chat. If it exists, the sums count all turns of the store. */
const complete = ''
