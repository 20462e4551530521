import type { Uri } from '@atrium/protocol/channel'
import type {
  FoundText,
  IndexChange,
  IndexedSession,
  IndexedText,
  IndexedTurn,
  SearchIndex,
  SearchQuery,
} from '@atrium/host/ports/search-index'
import { excerptOf } from './excerpt.ts'
import { marked, placesOf } from './match.ts'
import { positionOf, prepared, termWords, wordsOf } from './words.ts'
import type { Word } from './words.ts'

/** An index in memory. */
export interface MemorySearch extends SearchIndex {
  /** All indexed texts. */
  readonly texts: readonly Omit<FoundText & IndexedText, 'excerpt'>[]
}

/** Returns an index in memory, for tests and simulations. It looks at every text, so it is slow if there are many. */
export function memorySearch(): MemorySearch {
  return new MemoryIndex()
}

interface StoredText extends IndexedText {
  /** Undefined for the title of a session. */
  readonly chat: Uri | undefined
  /** Undefined for a title. */
  readonly turnId: string | undefined
  readonly words: readonly Word[]
}

interface StoredSession {
  entry: IndexedSession
  version: number
}

class MemoryIndex implements MemorySearch {
  readonly #sessions = new Map<Uri, StoredSession>()
  readonly #sessionOf = new Map<Uri, Uri>()
  /**
   * The texts by their positions, which order them by time (`positionOf`). `session` is set only for the title of a
   * session. The session of any other text is found by its chat.
   */
  readonly #texts = new Map<number, { readonly session: Uri | undefined; readonly stored: StoredText }>()
  #epoch: number | undefined

  get texts(): MemorySearch['texts'] {
    return [...this.#texts.values()].map(({ session: own, stored: { chat, turnId, who, time, text } }) => ({
      session: own ?? this.#sessionOf.get(chat ?? '') ?? '',
      ...(chat !== undefined && { chat }),
      ...(turnId !== undefined && { turnId }),
      who,
      time,
      text,
    }))
  }

  async begin(epoch: number, trusted: readonly number[]): Promise<ReadonlyMap<Uri, number>> {
    const isCurrent = this.#epoch !== undefined && trusted.includes(this.#epoch)
    if (!isCurrent) for (const session of this.#sessions.values()) session.version = 0
    this.#epoch = epoch
    return new Map([...this.#sessions].map(([uri, { version }]) => [uri, version]))
  }

  async update({ session, entry, turns = [], kept = [], version = 0 }: IndexChange): Promise<void> {
    const listed = new Set(entry?.chats.map(({ chat }) => chat))
    for (const { chat } of entry?.chats ?? []) this.#sessionOf.set(chat, session)
    const gone = (chat: Uri) => this.#sessionOf.get(chat) === session && !listed.has(chat)
    this.#drop(({ chat }) => chat !== undefined && gone(chat))
    for (const chat of [...this.#sessionOf.keys()].filter(gone)) this.#sessionOf.delete(chat)
    this.#dropTitles(session, listed)
    if (!entry) return void this.#sessions.delete(session)
    this.#sessions.set(session, { entry, version })
    const { time, title } = entry
    this.#add({ session, chat: undefined, turnId: undefined }, [{ who: 'title', time, text: title }])
    for (const named of entry.chats)
      if (named.title !== title)
        this.#add({ chat: named.chat, turnId: undefined }, [{ who: 'title', time, text: named.title }])
    for (const { chat, turnIds } of kept) {
      const ids = new Set(turnIds)
      this.#drop((text) => text.chat === chat && text.turnId !== undefined && !ids.has(text.turnId))
    }
    for (const turn of turns) this.#replace(turn)
  }

  async find(query: SearchQuery): Promise<{ found: readonly FoundText[]; next?: number }> {
    const { since, until, before = Infinity, limit } = query
    const from = since === undefined ? 0 : positionOf(since)
    const to = Math.min(before, until === undefined ? Infinity : positionOf(until))
    const inRange = [...this.#texts.keys()].filter((position) => position >= from && position < to)
    const hits = inRange.toSorted((a, b) => b - a).flatMap((position) => this.#hit(position, query))
    const page = hits.slice(0, limit)
    const last = page.at(-1)
    const found = page.map(({ text }) => text)
    return hits.length > page.length && last ? { found, next: last.position } : { found }
  }

  async clear(): Promise<void> {
    for (const each of [this.#sessions, this.#sessionOf, this.#texts]) each.clear()
    this.#epoch = undefined
  }

  async close(): Promise<void> {}

  #hit(position: number, query: SearchQuery): readonly { position: number; text: FoundText }[] {
    const text = this.#texts.get(position)
    const session = text?.session ?? this.#sessionOf.get(text?.stored.chat ?? '')
    const entry = session === undefined ? undefined : this.#sessions.get(session)?.entry
    if (!text || session === undefined || !entry || !isWanted(entry, query)) return []
    const { chat, turnId, who, time, words } = text.stored
    const places = query.terms.map((term) => placesOf(termWords(term), term.prefix, words))
    if (places.some((each) => each.length === 0)) return []
    const excerpt = excerptOf(marked(text.stored, places.flat()))
    const named = { ...(chat !== undefined && { chat }), ...(turnId !== undefined && { turnId }) }
    return [{ position, text: { session, ...named, who, time, excerpt } }]
  }

  #replace({ chat, turnId, texts }: IndexedTurn): void {
    this.#drop((text) => text.chat === chat && text.turnId === turnId)
    this.#add({ chat, turnId }, texts)
  }

  #add(
    { session, chat, turnId }: { session?: Uri; chat: Uri | undefined; turnId: string | undefined },
    texts: readonly IndexedText[],
  ): void {
    for (const { who, time, text: given } of texts) {
      const text = prepared(given)
      const words = wordsOf(text)
      if (words.length === 0) continue
      let position = positionOf(time)
      while (this.#texts.has(position)) position++
      this.#texts.set(position, { session, stored: { chat, turnId, who, time, text, words } })
    }
  }

  #dropTitles(session: Uri, chats: ReadonlySet<Uri>): void {
    for (const [position, { session: own, stored }] of this.#texts)
      if (stored.who === 'title' && (own === session || chats.has(stored.chat ?? '')))
        this.#texts.delete(position)
  }

  #drop(isGone: (text: StoredText) => boolean): void {
    for (const [position, { stored }] of this.#texts) if (isGone(stored)) this.#texts.delete(position)
  }
}

function isWanted({ provider, folders }: IndexedSession, query: SearchQuery): boolean {
  const { folder } = query
  if (query.provider !== undefined && provider !== query.provider) return false
  if (folder === undefined) return true
  return folders.some((path) => path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`))
}
