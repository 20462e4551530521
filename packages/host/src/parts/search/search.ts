import type { Action, Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Catalog } from '../../catalog/catalog.ts'
import { defineKey } from '../../kernel/key.ts'
import type { SearchItem, SearchParams, SearchResult } from './extensions.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Epoch } from '../../kernel/log/epochs.ts'
import type { Log } from '../../kernel/log/log.ts'
import { StoreAway } from '../../ports/lease.ts'
import type { LogStore } from '../../ports/log.ts'
import { IndexDamaged } from '../../ports/search-index.ts'
import type { FoundPage, FoundText, SearchIndex, SearchQuery } from '../../ports/search-index.ts'
import { Indexing } from './indexing.ts'
import type { IndexingParts } from './indexing.ts'
import { queryOf } from './query.ts'
import { searchedEpochs } from './searched-epochs.ts'

interface SearchParts {
  readonly index: SearchIndex
  /** Undefined in a read-only host, which searches the index as it is. */
  readonly indexing: Indexing | undefined
  readonly store: LogStore
  readonly log: Log
  readonly catalog: Catalog
  readonly limits: LimitValues
}

/**
 * The search in the texts of all sessions. Texts of deleted turns are not returned, even if the index still has them.
 */
export class Search {
  readonly #parts: SearchParts

  constructor(parts: SearchParts) {
    this.#parts = parts
  }

  /** The number of sessions that are not up to date in the index. */
  get waiting(): number {
    return this.#parts.indexing?.waiting ?? 0
  }

  async find(params: SearchParams): Promise<SearchResult> {
    const query = queryOf(params, this.#parts.limits)
    const { found, next } = query.terms.length === 0 ? noPage : await this.#page(query)
    const present = await Promise.all(found.map((text) => this.#present(text)))
    const pending = this.waiting
    return {
      items: present.flat(),
      ...(next !== undefined && { nextCursor: String(next) }),
      ...(pending > 0 && { pending }),
    }
  }

  /** Empties the index, and builds it again in the background. */
  async rebuild(): Promise<void> {
    try {
      await this.#parts.indexing?.rebuild()
    } catch (error) {
      // The connection has a sentence of its own for a database that is away.
      if (error instanceof StoreAway || !(error instanceof Error)) throw error
      throw AhpError.conflict(`the search index could not be emptied: ${error.message}`)
    }
  }

  /**
   * Records that a session must be indexed again, because a chat of it is truncated. Called before the truncation is
   * committed.
   */
  truncating(session: Uri): void {
    this.#parts.indexing?.truncating(session)
  }

  /** Schedules the indexing of the texts that a committed action has changed. */
  committed(channel: Channel, action: Action): void {
    this.#parts.indexing?.committed(channel, action)
  }

  /** Schedules the removal of a disposed session from the index. */
  disposed(session: Uri): void {
    this.#parts.indexing?.changed(session)
  }

  async close(): Promise<void> {
    await (this.#parts.indexing ?? this.#parts.index).close()
  }

  async #page(query: SearchQuery): Promise<FoundPage> {
    const { index, indexing } = this.#parts
    try {
      return await index.find(query)
    } catch (error) {
      // A read-only host can neither repair an index nor finish what a killed host has left in its journal.
      if (!indexing) throw AhpError.conflict('the search index of this read-only host cannot be read')
      if (!(error instanceof IndexDamaged)) throw error
      await indexing.damaged(error)
      return noPage
    }
  }

  /** Returns a found text as one item for the client; no item if its session, its chat or its turn is gone. */
  async #present({ session, chat, turnId, who, time, excerpt }: FoundText): Promise<readonly SearchItem[]> {
    const { catalog } = this.#parts
    const home = chat === undefined ? session : catalog.sessionOf(chat)
    const summary = home === undefined ? undefined : catalog.get(home)
    if (!summary || (chat !== undefined && turnId !== undefined && !(await this.#has(session, chat, turnId))))
      return []
    const { resource, title, provider } = summary
    const place = { ...(chat !== undefined && { chat }), ...(turnId !== undefined && { turnId }) }
    return [
      { session: resource, ...place, who, time: new Date(time).toISOString(), title, provider, excerpt },
    ]
  }

  /**
   * Whether a chat still has a turn. The store is read only if the index may be outdated and the chat is not in
   * memory.
   */
  async #has(session: Uri, chat: Uri, turnId: string): Promise<boolean> {
    const { log, indexing, store } = this.#parts
    const awake = log.channel(chat)
    if (awake) return awake.has(turnId)
    if (indexing?.isWaiting(session) === false) return true
    return (await store.rows(chat, [turnId])).rows.length > 0
  }
}

const noPage: FoundPage = { found: [] }

/** Undefined if the host was started without a search index. */
export const searchOf = defineKey<Search | undefined>('search')

/** Makes the search on an index. A read-only host searches the index, but does not feed it. */
export async function openSearch(
  index: SearchIndex,
  parts: Omit<IndexingParts, 'index' | 'trusted' | 'isNew'> & { readonly earlierEpochs: readonly Epoch[] },
  readOnly: boolean,
): Promise<Search> {
  if (readOnly) return new Search({ index, indexing: undefined, ...parts })
  const epochs = await searchedEpochs(parts.records, parts.log.first, parts.earlierEpochs)
  // A store that has lost changes may have less than the index, so all sessions are indexed again.
  const trusted = parts.store.lost === undefined ? epochs : []
  const isNew = parts.earlierEpochs.length === 0
  return new Search({ index, indexing: new Indexing({ index, trusted, isNew, ...parts }), ...parts })
}
