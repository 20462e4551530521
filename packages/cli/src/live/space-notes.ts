import type { Client } from '@atrium/client/client'
import { onOneLine } from '../terminal/output.ts'

/** A change of the free space at the host, in words and as a document for `--json`. */
export interface SpaceNote {
  readonly type: 'disk'
  readonly full: boolean
  readonly message: string
}

/**
 * Remembers what the user was told about the disk of the host. While the disk is full, actions wait and nothing else
 * happens, so a command that does not mention it would seem to hang.
 */
export class SpaceNotes {
  readonly #client: Client
  #full = false

  constructor(client: Client) {
    this.#client = client
  }

  /** Returns what to tell the user; undefined if nothing has changed. */
  next(): SpaceNote | undefined {
    const { diskFull, link } = this.#client
    // Nothing is known about the disk of a host that is away. Once it is back, it says so again if its disk is still full.
    if (link.state !== 'live') this.#full = false
    const full = diskFull !== undefined
    if (full === this.#full) return undefined
    this.#full = full
    return { type: 'disk', full, message: onOneLine(diskFull ?? 'The disk of the host has space again.') }
  }
}
