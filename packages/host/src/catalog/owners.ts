import type { Uri } from '@atrium/protocol/channel'
import { RecordMap, textFormat } from '../kernel/record-map.ts'
import type { Records } from '../ports/records.ts'
import { defineKey } from '../kernel/key.ts'

/**
 * The owner of each session: the principal that created the session. The owner's tokens are used only in the owner's own
 * sessions (S-48).
 */
export class Owners {
  readonly #principals: RecordMap<string>

  private constructor(principals: RecordMap<string>) {
    this.#principals = principals
  }

  static async open(records: Records): Promise<Owners> {
    return new Owners(await RecordMap.open(records, 'owner/', textFormat))
  }

  of(session: Uri): string {
    return this.#principals.get(session) ?? usualPrincipal
  }

  assign(session: Uri, principal: string): void {
    // A host reads all records at its start. To keep them few, sessions of the usual owner have no record.
    if (principal === usualPrincipal) this.#principals.delete(session)
    else this.#principals.set(session, principal)
  }

  forget(session: Uri): void {
    this.#principals.delete(session)
  }
}

/** The principal of clients that use the host's own token. It owns the sessions without a record. */
const usualPrincipal = 'owner'

export const ownersOf = defineKey<Owners>('owners')
