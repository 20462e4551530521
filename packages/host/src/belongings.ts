import type { Uri } from '@atrium/protocol/channel'
import type { Records } from './ports/records.ts'

/** The channels beside its chats that go with a session: known also while they sleep. */
export class Belongings {
  readonly #records: Records
  readonly #sessions = new Map<Uri, Uri>()

  private constructor(records: Records) {
    this.#records = records
  }

  static async open(records: Records): Promise<Belongings> {
    const belongings = new Belongings(records)
    for (const [key, session] of await records.list(prefix))
      belongings.#sessions.set(key.slice(prefix.length), session)
    return belongings
  }

  sessionOf(uri: Uri): Uri | undefined {
    return this.#sessions.get(uri)
  }

  of(session: Uri): readonly Uri[] {
    return [...this.#sessions].flatMap(([uri, owner]) => (owner === session ? [uri] : []))
  }

  /** It goes with this session from now on; with none where none is given. */
  give(uri: Uri, session: Uri | undefined): void {
    if (this.#sessions.get(uri) === session) return
    if (session === undefined) {
      this.#sessions.delete(uri)
      this.#records.delete(`${prefix}${uri}`)
    } else {
      this.#sessions.set(uri, session)
      this.#records.put(`${prefix}${uri}`, session)
    }
  }
}

const prefix = 'part/'
