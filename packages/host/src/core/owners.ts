import type { Uri } from '@atrium/protocol/channel'
import type { Records } from '../ports/records.ts'

/** Whose each session is: the principal that made it. What one gives to agents is used in its own sessions alone (S-48). */
export class Owners {
  readonly #records: Records
  readonly #sessions = new Map<Uri, string>()

  private constructor(records: Records) {
    this.#records = records
  }

  static async open(records: Records): Promise<Owners> {
    const owners = new Owners(records)
    for (const [key, principal] of await records.list(prefix))
      owners.#sessions.set(key.slice(prefix.length), principal)
    return owners
  }

  of(session: Uri): string {
    return this.#sessions.get(session) ?? first
  }

  assign(session: Uri, principal: string): void {
    this.#sessions.set(session, principal)
    this.#records.put(`${prefix}${session}`, principal)
  }

  forget(session: Uri): void {
    this.#sessions.delete(session)
    this.#records.delete(`${prefix}${session}`)
  }
}

const prefix = 'owner/'
/** Builds that did not keep it let nobody else in. */
const first = 'owner'
