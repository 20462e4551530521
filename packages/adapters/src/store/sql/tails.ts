import { Damage } from '../lines.ts'
import type { SqlDialect } from './dialect.ts'
import type { Ask, Work } from './work.ts'

/** The newest numbers of a channel, which each envelope and each row changes. A type, because it is also a row of a statement. */
export type Tail = {
  readonly id: number
  readonly kind: string
  seq: number
  chain: number
  rows: number
  /** The place of its last row. A store that orders all rows by one number counts from 0 in each batch. */
  places: number
}

/** The tails that a batch has changed. A channel without a tail was dropped. */
export type Written = Map<string, Tail | undefined>

/** The maximum number of tails in memory. */
const MOST = 20_000

/**
 * The newest numbers of the channels that were written last. Only the owner writes, so they stay true in memory, and the usual flush
 * reads nothing.
 */
export class Tails {
  readonly #known = new Map<string, Tail>()
  readonly #dialect: SqlDialect
  readonly #stored: Ask<Found>

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
    this.#stored = dialect.statement<Found>(
      `SELECT l.value AS key, id, kind, t.seq AS seq, chain, rows, ${dialect.places} AS places
       FROM ${dialect.list('text')} JOIN channels c ON c.${dialect.by('uri')} = l.value LEFT JOIN tails t ON t.channel = id`,
      'tails',
    )
  }

  /** Forgets everything, because a write has failed. */
  clear(): void {
    this.#known.clear()
  }

  /** Takes the tails of a batch that was stored. */
  take(written: Written): void {
    for (const [uri, tail] of written) {
      this.#known.delete(uri)
      if (tail) this.#known.set(uri, tail)
    }
    for (const uri of this.#known.keys()) {
      if (this.#known.size <= MOST) return
      this.#known.delete(uri)
    }
  }

  /** Adds the tails of channels to those of a batch, which may change them. Missing channels are left out. */
  *read(uris: readonly string[], written: Written): Work<void> {
    const unknown = new Map<string, string>()
    for (const uri of uris) {
      if (written.has(uri)) continue
      const tail = this.#known.get(uri)
      if (tail) written.set(uri, { ...tail })
      else unknown.set(this.#dialect.key(uri), uri)
    }
    if (unknown.size === 0) return
    for (const { key, ...tail } of yield* this.#stored([...unknown.keys()])) {
      const uri = unknown.get(key) ?? key
      if (!isThere(tail)) throw new Damage(`the tail of ${uri} is missing`)
      written.set(uri, tail)
    }
  }
}

/** A channel with its tail. The columns of a missing tail are null. */
type Found = { readonly key: string } & (Tail | { readonly chain: null })

const isThere = (tail: Tail | { readonly chain: null }): tail is Tail => tail.chain !== null
