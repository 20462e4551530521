import type { Uri } from '@atrium/protocol/channel'
import type { Records } from '../../ports/records.ts'
import { RecordMap } from '../../kernel/record-map.ts'
import type { RecordFormat } from '../../kernel/record-map.ts'
import { defineKey } from '../../kernel/key.ts'

/** The sequence numbers of the changes of a listed session. */
interface Listed {
  /** The number of the announcement. */
  readonly added: number
  /** The number of the last change. */
  readonly changed: number
}

export interface Removal {
  readonly seq: number
  /** The alias that the session had. */
  readonly alias?: Uri | undefined
}

/** The sessions that were added to the list, changed in it, or removed from it since a sequence number. */
export interface ListDifference {
  readonly added: readonly Uri[]
  readonly changed: readonly Uri[]
  readonly removed: readonly Uri[]
}

/**
 * The sequence numbers of the changes of the session list. The list is not a channel, so its changes are in no replay. A client
 * that comes back is told what has changed since the last number that it has seen. The numbers of a session are stored with its
 * entry (`Catalog`), so that a start reads them with the list.
 */
export class ListChanges {
  readonly #listed = new Map<Uri, Listed>()
  /** The numbers that an earlier build has stored apart from the entries. */
  readonly #earlier: RecordMap<Listed>
  readonly #removed: RecordMap<Removal>
  /** The maximum number of removals that are kept. */
  readonly #maxRemoved: number

  private constructor(earlier: RecordMap<Listed>, removed: RecordMap<Removal>, maxRemoved: number) {
    this.#earlier = earlier
    this.#removed = removed
    this.#maxRemoved = maxRemoved
    for (const [session, listed] of earlier.entries()) this.#listed.set(session, listed)
  }

  static async open(records: Records, maxRemoved: number): Promise<ListChanges> {
    const earlier = await RecordMap.open(records, 'listed/', listedFormat)
    return new ListChanges(earlier, await RecordMap.open(records, 'removed/', removalFormat), maxRemoved)
  }

  /** The sessions that were removed last, oldest first. */
  get removals(): readonly (readonly [Uri, Removal])[] {
    return this.#removed.entries().toSorted(([, a], [, b]) => a.seq - b.seq)
  }

  /** The numbers of a session as text, for its record. Empty if the session is not listed. */
  textOf(session: Uri): string {
    const listed = this.#listed.get(session)
    return listed ? listedFormat.write(listed) : ''
  }

  /** Takes the numbers from the record of a session. */
  load(session: Uri, text: string): void {
    if (text !== '') this.#listed.set(session, listedFormat.read(text))
  }

  /** The number of a session's last change. It is 1 for a session that has not changed since an earlier build. */
  versionOf(session: Uri): number {
    return this.#listed.get(session)?.changed ?? 1
  }

  added(session: Uri, seq: number): void {
    this.#listed.set(session, { added: seq, changed: seq })
  }

  changed(session: Uri, seq: number): void {
    // A session of an earlier build may have no numbers. It was announced before any number of this build.
    this.#listed.set(session, { added: this.#listed.get(session)?.added ?? 0, changed: seq })
    this.#earlier.delete(session)
  }

  removed(session: Uri, removal: Removal): void {
    this.#listed.delete(session)
    this.#earlier.delete(session)
    this.#removed.set(session, removal)
    const [oldest] = this.removals
    if (this.#removed.size > this.#maxRemoved && oldest) this.#removed.delete(oldest[0])
  }

  /**
   * Returns what has changed above `seq`. A removal above `committed` is left out: clients are notified of it when it
   * is committed.
   */
  since(seq: number, committed: number): ListDifference {
    const changed = [...this.#listed].filter(([, listed]) => listed.changed > seq)
    return {
      added: changed.filter(([, listed]) => listed.added > seq).map(([uri]) => uri),
      changed: changed.filter(([, listed]) => listed.added <= seq).map(([uri]) => uri),
      removed: this.removals.filter(([, at]) => at.seq > seq && at.seq <= committed).map(([uri]) => uri),
    }
  }
}

const listedFormat: RecordFormat<Listed> = {
  read: (text) => {
    const at = text.indexOf(' ')
    return { added: Number(text.slice(0, at)), changed: Number(text.slice(at + 1)) }
  },
  write: ({ added, changed }) => `${added} ${changed}`,
}

const removalFormat: RecordFormat<Removal> = {
  read: (text) => {
    const [seq = '0', alias] = text.split(' ')
    return { seq: Number(seq), alias }
  },
  write: ({ seq, alias }) => (alias === undefined ? `${seq}` : `${seq} ${alias}`),
}

export const listChangesOf = defineKey<ListChanges>('list changes')
