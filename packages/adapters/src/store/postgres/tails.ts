import { Damage } from '../lines.ts'
import { keyOf } from './key.ts'
import type { Query } from './link.ts'

/** The newest numbers of a channel, which each envelope and each row changes. A type, because it is also a row (`statement.ts`). */
export type Tail = {
  readonly id: number
  readonly kind: string
  seq: number
  chain: number
  rows: number
  places: number
}

/** The maximum number of tails in memory. */
const MOST = 20_000

/**
 * The newest numbers of the channels that were written last. Only the owner writes, so they stay true in memory, and the usual flush
 * reads nothing.
 */
export class Tails {
  readonly #known = new Map<string, Tail>()

  /** Forgets everything, because a write has failed. */
  clear(): void {
    this.#known.clear()
  }

  /** Takes the tails of a batch that was stored. A URI without a tail was dropped. */
  take(written: ReadonlyMap<string, Tail | undefined>): void {
    for (const [uri, tail] of written) {
      this.#known.delete(uri)
      if (tail) this.#known.set(uri, tail)
    }
    for (const uri of this.#known.keys()) {
      if (this.#known.size <= MOST) return
      this.#known.delete(uri)
    }
  }

  /** Returns copies of the tails of channels, from memory or else from the database. Missing channels are left out. */
  async of(query: Query, uris: readonly string[]): Promise<ReadonlyMap<string, Tail>> {
    const found = new Map<string, Tail>()
    const unknown: string[] = []
    for (const uri of uris) {
      const tail = this.#known.get(uri)
      if (tail) found.set(uri, { ...tail })
      else unknown.push(uri)
    }
    if (unknown.length > 0)
      for (const { uri, ...tail } of (await query<Found>(TAILS, [unknown.map(keyOf)])).rows) {
        if (!isThere(tail)) throw new Damage(`the tail of ${uri} is missing`)
        found.set(uri, tail)
      }
    return found
  }
}

/** A channel with its tail. The columns of a missing tail are null. */
type Found = { readonly uri: string } & (Tail | { readonly chain: null })

const isThere = (tail: Tail | { readonly chain: null }): tail is Tail => tail.chain !== null

const TAILS = {
  name: 'tails',
  text: `SELECT uri, id, kind, t.seq AS seq, chain, rows, places FROM channels LEFT JOIN tails t ON t.channel = id
    WHERE key = ANY($1::text[])`,
}
