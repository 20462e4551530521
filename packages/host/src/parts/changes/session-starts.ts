import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Core } from '../../kernel/core.ts'
import type { TurnRecord } from './turn-record.ts'
import { sessionStart } from './turn-records.ts'
import type { TurnRecords } from './turn-records.ts'

/** The first captures of sessions. The changes of a session are the changes since these captures. */
export class SessionStarts {
  readonly #core: () => Core
  readonly #records: TurnRecords
  /** The sessions that are known to have a record, so that a later turn need not wait for the store. */
  readonly #known = new Set<Uri>()

  constructor(core: () => Core, records: TurnRecords) {
    this.#core = core
    this.#records = records
  }

  /** Records the captures of a turn if it is the first one of its session. Returns whether it is. */
  async begin(chat: Uri, turn: TurnRecord): Promise<boolean> {
    const session = catalogOf(this.#core()).sessionOf(chat)
    if (session === undefined || this.#known.has(session)) return false
    const stored = await this.#records.get(session, sessionStart)
    if (!catalogOf(this.#core()).get(session)) return false
    const folders = turn.folders.flatMap(({ directory, start }) =>
      start === undefined ? [] : [{ directory, start }],
    )
    if (!stored && folders.length === 0) return false
    this.#known.add(session)
    if (stored) return false
    this.#records.put(session, sessionStart, { folders })
    this.#core().log.scheduleFlush()
    return true
  }

  forgotten(session: Uri): void {
    this.#known.delete(session)
  }
}
