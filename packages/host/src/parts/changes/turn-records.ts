import type { Uri } from '@atrium/protocol/channel'
import { RecordMap, textFormat } from '../../kernel/record-map.ts'
import type { Records } from '../../ports/records.ts'
import {
  capturesIn,
  chatKey,
  countOf,
  parseTurnKey,
  readTurnRecord,
  turnKey,
  writeTurnRecord,
} from './turn-record.ts'
import type { TurnCount, TurnRecord } from './turn-record.ts'
import { TurnCounts } from './counts/turn-counts.ts'
import type { ByteBudget } from './counts/turn-counts.ts'
import { readReviewRecord, writeReviewRecord } from './review/review-record.ts'
import type { ReviewRecord } from './review/review-record.ts'

/**
 * The stored records of turns. They are read when they are needed, because a host may have many turns. Only
 * unfinished work is in memory: the turns whose end captures are missing, and the chats that may have records of
 * removed turns.
 */
export class TurnRecords {
  readonly #records: Records
  /** Called with the key of a damaged record. */
  readonly #damaged: (key: string) => void
  /** The turns that have ended and have no end capture yet. Only the keys matter. */
  readonly #owed: RecordMap<string>
  /** The chats that have lost turns or were removed. The records of the removed turns must still be deleted. */
  readonly #sweeps: RecordMap<string>
  /** The bytes that the captures of finished turns take of the budgets. */
  readonly #counts: TurnCounts
  /** For each fork that is not published yet: the texts of its records, by key. */
  readonly #copies = new Map<Uri, ReadonlyMap<string, string>>()

  private constructor(records: Records, damaged: (key: string) => void, { owed, sweeps, counts }: Parts) {
    this.#records = records
    this.#damaged = damaged
    this.#owed = owed
    this.#sweeps = sweeps
    this.#counts = counts
  }

  static async open(records: Records, damaged: (key: string) => void): Promise<TurnRecords> {
    const owed = await RecordMap.open(records, 'capture-owed/', textFormat)
    const sweeps = await RecordMap.open(records, 'capture-sweep/', textFormat)
    const counts = await TurnCounts.open(records, prefix)
    return new TurnRecords(records, damaged, { owed, sweeps, counts })
  }

  async get(chat: Uri, turnId: string): Promise<TurnRecord | undefined> {
    const key = turnKey(chat, turnId)
    const text = await this.#records.get(prefix + key)
    return text === undefined ? undefined : this.#read(key, text)
  }

  put(chat: Uri, turnId: string, record: TurnRecord): void {
    this.#records.put(prefix + turnKey(chat, turnId), writeTurnRecord(record))
    this.#counts.set(turnKey(chat, turnId), countOf(record))
  }

  /** Stores the record of a turn that has got its end capture. */
  putEnded(chat: Uri, turnId: string, record: TurnRecord): void {
    this.put(chat, turnId, record)
    this.#counts.add(turnKey(chat, turnId), countOf(record))
  }

  /** Stores the record of a turn that has lost its captures. */
  putLost(chat: Uri, turnId: string, record: TurnRecord, lost: TurnCount): void {
    this.put(chat, turnId, record)
    this.#counts.remove(turnKey(chat, turnId), lost)
  }

  delete(chat: Uri, turnId: string): void {
    for (const kind of kinds) this.#records.delete(kind + turnKey(chat, turnId))
    this.#counts.set(turnKey(chat, turnId), undefined)
  }

  /**
   * Returns the marks of reviewers. `owner` is a chat and `id` one of its turns, or `owner` is a session and `id` one
   * of its changesets.
   */
  async reviews(owner: Uri, id: string): Promise<ReviewRecord> {
    const key = turnKey(owner, id)
    const text = await this.#records.get(reviewPrefix + key)
    const record = text === undefined ? {} : readReviewRecord(text)
    if (!record) this.#damaged(key)
    return record ?? {}
  }

  putReviews(owner: Uri, id: string, record: ReviewRecord): void {
    this.#records.put(reviewPrefix + turnKey(owner, id), writeReviewRecord(record))
  }

  /**
   * Returns the finished turns that have captures, and how many bytes the captures of each turn take. Returns undefined
   * if they are certainly within the budgets. The records of the turns are read only if a budget may be exceeded.
   */
  async counted(
    budget: ByteBudget,
    sessionOf: (chat: Uri) => Uri | undefined,
  ): Promise<readonly (TurnCount & { readonly chat: Uri; readonly turnId: string })[] | undefined> {
    if (!(await this.#counts.mayExceed(budget, sessionOf))) return undefined
    return [...(await this.#counts.exact())].map(([key, count]) => ({ ...count, ...parseTurnKey(key) }))
  }

  /** The place of the next turn in the order of all turns. */
  nextOrder(): Promise<number> {
    return this.#counts.nextOrder()
  }

  /** The turns that have ended and have no end capture yet. */
  get owed(): readonly { readonly chat: Uri; readonly turnId: string }[] {
    return this.#owed.keys().map(parseTurnKey)
  }

  isOwed(chat: Uri, turnId: string): boolean {
    return this.#owed.has(turnKey(chat, turnId))
  }

  owe(chat: Uri, turnId: string): void {
    this.#owed.set(turnKey(chat, turnId), '')
  }

  settle(chat: Uri, turnId: string): void {
    this.#owed.delete(turnKey(chat, turnId))
  }

  /** Reads the records of these turns for a fork. They are stored in the transaction that publishes the fork. */
  async copy(from: Uri, to: Uri, turnIds: readonly string[]): Promise<void> {
    const wanted = new Set(turnIds.map((turnId) => turnKey(from, turnId)))
    const copies = new Map<string, string>()
    for (const kind of kinds)
      for (const [key, text] of await this.#list(kind, from))
        if (wanted.has(key)) copies.set(kind + turnKey(to, parseTurnKey(key).turnId), text)
    this.#copies.set(to, copies)
  }

  publishCopy(to: Uri): void {
    for (const [key, text] of this.#copies.get(to) ?? []) {
      this.#records.put(key, text)
      if (key.startsWith(prefix)) this.#counts.add(key.slice(prefix.length), countOf(readTurnRecord(text)))
    }
    this.#copies.delete(to)
  }

  forgetCopy(to: Uri): void {
    this.#copies.delete(to)
  }

  /** The chats that may have records of removed turns. */
  get sweeps(): readonly Uri[] {
    return this.#sweeps.keys()
  }

  sweepLater(chat: Uri): void {
    this.#sweeps.set(chat, '')
  }

  /** Deletes the records of those turns of a chat that do not exist any more. */
  async sweep(chat: Uri, exists: (turnId: string) => boolean): Promise<void> {
    const [turns, reviews] = await Promise.all([this.#list(prefix, chat), this.#list(reviewPrefix, chat)])
    // No `await` from here on: a turn may begin meanwhile.
    const removed = [...turns, ...reviews].filter(([key]) => !exists(parseTurnKey(key).turnId))
    for (const [key] of removed) {
      const { turnId } = parseTurnKey(key)
      this.delete(chat, turnId)
      this.settle(chat, turnId)
    }
    // A turn may be truncated before it has a record.
    for (const owed of this.owed)
      if (owed.chat === chat && !exists(owed.turnId)) this.settle(chat, owed.turnId)
    for (const [key, text] of turns)
      if (!exists(parseTurnKey(key).turnId)) this.#counts.remove(key, countOf(readTurnRecord(text)))
    if (!turns.some(([key]) => exists(parseTurnKey(key).turnId))) this.#counts.removeAll(chat)
    this.#sweeps.delete(chat)
  }

  /** The captures that the records name, those of unpublished forks included. Undefined if a record cannot be read. */
  async captures(): Promise<ReadonlySet<string> | undefined> {
    const stored = await this.#records.list(prefix)
    const copied = [...this.#copies.values()].flatMap((copies) => [...copies])
    const all = [...stored, ...copied.filter(([key]) => key.startsWith(prefix))]
    const records = all.map(([key, text]) => this.#read(key.slice(prefix.length), text))
    return records.includes(undefined)
      ? undefined
      : new Set(records.flatMap((record) => (record ? capturesIn(record) : [])))
  }

  async #list(kind: string, chat: Uri): Promise<readonly (readonly [key: string, text: string])[]> {
    const found = await this.#records.list(kind + chatKey(chat))
    return found.map(([key, text]) => [key.slice(kind.length), text] as const)
  }

  #read(key: string, text: string): TurnRecord | undefined {
    const record = readTurnRecord(text)
    if (!record) this.#damaged(key)
    return record
  }
}

interface Parts {
  readonly owed: RecordMap<string>
  readonly sweeps: RecordMap<string>
  readonly counts: TurnCounts
}

/**
 * Stands in place of a turn id in the key of a session's own record, which has the captures at the beginning of the
 * session.
 */
export const sessionStart = 'session'

const prefix = 'capture/'
const reviewPrefix = 'reviewed/'
const kinds = [prefix, reviewPrefix]
