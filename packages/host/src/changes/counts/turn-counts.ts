import type { Uri } from '@atrium/protocol/channel'
import { RecordMap } from '../../core/record-map.ts'
import type { Records } from '../../ports/records.ts'
import { countOf, parseTurnKey, readTurnRecord } from '../turn-record.ts'
import type { TurnCount } from '../turn-record.ts'

/** In bytes. */
export interface ByteBudget {
  readonly session: number
  readonly all: number
}

/** The turns of a chat that have captures: the bytes that they count at most, and the place of the newest one. */
interface ChatSum {
  readonly bytes: number
  readonly order: number
}

/**
 * What finished turns count for the budgets of all captures. A sum for each chat is stored and kept in memory, so that the
 * records of all turns are read only if a budget may be exceeded. A sum may be too large, for example because a turn was
 * resumed and counts twice. It is corrected when the records are read.
 */
export class TurnCounts {
  readonly #records: Records
  readonly #prefix: string
  readonly #sums: RecordMap<ChatSum>
  /** What each turn counts, by key. Undefined until the records are read. */
  #exact: Map<string, TurnCount> | undefined
  #reading: Promise<void> | undefined
  /** The changes while the records are being read. */
  readonly #changes = new Map<string, TurnCount | undefined>()

  private constructor(records: Records, prefix: string, sums: RecordMap<ChatSum>) {
    this.#records = records
    this.#prefix = prefix
    this.#sums = sums
  }

  /** `prefix`: the beginning of the keys of the records of turns. */
  static async open(records: Records, prefix: string): Promise<TurnCounts> {
    // The text was written by the same format.
    const format = { read: (text: string) => JSON.parse(text) as ChatSum, write: JSON.stringify }
    return new TurnCounts(records, prefix, await RecordMap.open(records, 'capture-sum/', format))
  }

  /** Notes that a turn counts from now on. */
  add(key: string, count: TurnCount | undefined): void {
    this.set(key, count)
    if (!count) return
    const { chat } = parseTurnKey(key)
    const { bytes, order } = this.#sums.get(chat) ?? none
    this.#sums.set(chat, { bytes: bytes + count.bytes, order: Math.max(order, count.order) })
  }

  /** Notes what a turn counts after a change of its record. The sum of its chat stays. */
  set(key: string, count: TurnCount | undefined): void {
    if (this.#exact && count) this.#exact.set(key, count)
    else if (this.#exact) this.#exact.delete(key)
    else if (this.#reading) this.#changes.set(key, count)
  }

  /** Notes that a turn counts no more. */
  remove(key: string, count: TurnCount | undefined): void {
    this.set(key, undefined)
    const { chat } = parseTurnKey(key)
    const sum = this.#sums.get(chat)
    if (sum && count) this.#sums.set(chat, { ...sum, bytes: Math.max(0, sum.bytes - count.bytes) })
  }

  /** Notes that no turn of a chat counts any more. */
  removeAll(chat: Uri): void {
    this.#sums.delete(chat)
  }

  /** The place of the next turn in the order of all turns. */
  async nextOrder(): Promise<number> {
    await this.#complete()
    return this.#sums.values().reduce((most, { order }) => Math.max(most, order), 0) + 1
  }

  /** Whether the sums exceed a budget. If they do not, the turns do not. */
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

  /** The turns that count, with what they count. Reads the records of all turns, once, and corrects the sums. */
  async exact(): Promise<ReadonlyMap<string, TurnCount>> {
    await (this.#reading ??= this.#read())
    return this.#exact ?? new Map()
  }

  /** Makes the sums of a store that an earlier version of the host has written. */
  async #complete(): Promise<void> {
    if (!this.#sums.has(complete)) await this.exact()
  }

  async #read(): Promise<void> {
    const stored = await this.#records.list(this.#prefix)
    const read = stored.map(
      ([key, text]) => [key.slice(this.#prefix.length), countOf(readTurnRecord(text))] as const,
    )
    // No `await` from here on: a turn may end meanwhile.
    const all = [...new Map([...read, ...this.#changes])]
    this.#exact = new Map(all.flatMap(([key, count]) => (count ? [[key, count] as const] : [])))
    this.#changes.clear()
    for (const chat of this.#sums.keys()) this.#sums.delete(chat)
    for (const [key, count] of this.#exact) this.add(key, count)
    this.#sums.set(complete, none)
  }
}

const none: ChatSum = { bytes: 0, order: 0 }

/** Stands in place of a chat: the sums count all turns of the store. */
const complete = ''
