import type { Notice } from './extensions.ts'
import { RecordMap } from '../../kernel/record-map.ts'
import type { Records } from '../../ports/records.ts'

/**
 * The records of notifications: sent, suppressed and failed ones. They are not part of the log: no client replays them, and
 * the oldest are deleted.
 */
export class Notices {
  readonly #stored: RecordMap<Notice>
  readonly #max: number
  #next: number

  private constructor(stored: RecordMap<Notice>, max: number) {
    this.#stored = stored
    this.#max = max
    this.#next = 1 + Math.max(0, ...stored.keys().map(Number))
  }

  static async open(records: Records, max: number): Promise<Notices> {
    return new Notices(await RecordMap.open(records, 'notice/', format), max)
  }

  /** All records, the newest first. */
  get newestFirst(): readonly Notice[] {
    return this.#stored.values().toReversed()
  }

  add(notice: Notice): void {
    this.#stored.set(String(this.#next++).padStart(12, '0'), notice)
    for (const key of this.#stored.keys().slice(0, Math.max(0, this.#stored.size - this.#max)))
      this.#stored.delete(key)
  }
}

const format = {
  // Only this class writes these records, and nothing depends on their fields.
  read: (text: string) => JSON.parse(text) as Notice,
  write: (notice: Notice) => JSON.stringify(notice),
}
