import type {
  Author,
  FoundText,
  IndexedSession,
  IndexedText,
  SearchIndex,
  SearchTerm,
} from '@atrium/host/ports/search-index'
import type { PostgresPlace } from '../../store/postgres/place.ts'
import { newPostgresThread } from '../../store/postgres/thread.ts'
import { StoreWorker } from '../../store/worker-client.ts'
import { excerptOf } from '../excerpt.ts'
import { marked, placesOf } from '../match.ts'
import { positionOf, prepared, termWords, wordsOf } from '../words.ts'
import type { FoundRow, PackedEntry, PackedText, SearchApi } from './worker-api.ts'

export interface PostgresSearchOptions {
  /** The epoch of the owner, from `postgresLease`. Absent: only `find` and `close` may be called. */
  readonly epoch?: number
  /** The milliseconds after which the server ends a connection that stands still inside a transaction (`PostgresOptions`). */
  readonly idle?: number
  /** Called with the reason if the index had another version, and was replaced by an empty one. */
  readonly rebuilt?: (reason: string) => void
}

/** The number of texts that are read at once, beside those of a page. */
const MORE = 50
/** The number of characters of a word that are in the index. PostgreSQL takes at most 2 KB. */
const WORD = 100
/** The size of all different words of a text that are in the index, in bytes. PostgreSQL takes at most 1 MiB. */
const WORDS = 900_000

/**
 * The search index in the database of a store, on PostgreSQL's full text. The words of a text are those that the other indexes
 * find. The database finds texts with all words; phrases are compared here.
 */
export async function postgresSearch(
  place: PostgresPlace,
  options: PostgresSearchOptions = {},
): Promise<SearchIndex> {
  const worker = new StoreWorker<SearchApi>(newPostgresThread(new URL('./search-worker.js', import.meta.url)))
  const { epoch, idle = 5000, rebuilt } = options
  const opened = await worker.request('openSearch', [{ target: place, epoch, idle, patience: 30_000 }])
  if (opened.rebuilt !== undefined) rebuilt?.(opened.rebuilt)
  return {
    begin: async (begun, trusted) => new Map(await worker.request('begin', [begun, trusted])),
    update: ({ session, entry, turns = [], kept = [], version = 0 }) =>
      worker.request('update', [
        {
          session,
          entry: entry && packedEntry(entry),
          turns: turns.map((turn) => ({ ...turn, texts: packedTexts(turn.texts) })),
          kept,
          version,
        },
      ]),
    async find({ terms, provider = null, folder = null, since, until, limit, before }) {
      const match = terms.map(matchOf).filter(Boolean).join(' & ')
      if (match === '') return { found: [] }
      const from = since === undefined ? 0 : positionOf(since)
      let to = Math.min(before ?? lastPosition, until === undefined ? lastPosition : positionOf(until))
      const hits: { readonly id: number; readonly text: FoundText }[] = []
      for (;;) {
        const asked = { match, from, to, limit: limit + MORE, provider, folder }
        const rows = await worker.request('find', [asked])
        hits.push(...rows.flatMap((row) => hitOf(row, terms)))
        if (hits.length > limit || rows.length < limit + MORE) break
        to = rows.at(-1)?.id ?? 0
      }
      const page = hits.slice(0, limit)
      const found = page.map(({ text }) => text)
      const last = page.at(-1)
      return hits.length > limit && last ? { found, next: last.id } : { found }
    },
    clear: () => worker.request('clear', []),
    close: () => worker.close(),
  }
}

const lastPosition = Number.MAX_SAFE_INTEGER
const authors: readonly Author[] = ['user', 'agent', 'tool', 'title']

function packedEntry({ provider, folders, title, time, chats }: IndexedSession): PackedEntry {
  const titles = (text: string) => packedTexts([{ who: 'title', time, text }])
  return {
    provider,
    folders,
    titles: titles(title),
    // A chat that has the title of its session gets no title text of its own, so that the title is not found twice.
    chats: chats.map((each) => ({
      chat: each.chat,
      titles: each.title === title ? [] : titles(each.title),
    })),
  }
}

/** Returns the texts that have at least one word, in the form that the worker stores. */
function packedTexts(texts: readonly IndexedText[]): readonly PackedText[] {
  return texts.flatMap(({ who, time, text: given }) => {
    const text = prepared(given)
    const words = fitting([...new Set(wordsOf(text).map(({ folded }) => folded.slice(0, WORD)))])
    const packed = { who: authors.indexOf(who), time, text, position: positionOf(time), words }
    return words.length === 0 ? [] : [packed]
  })
}

/** The first words that fit into the index together. */
function fitting(words: readonly string[]): readonly string[] {
  let size = 0
  const end = words.findIndex((word) => (size += Buffer.byteLength(word) + 8) > WORDS)
  return end < 0 ? words : words.slice(0, end)
}

/**
 * Converts a term to a query of PostgreSQL: all of its words. They are quoted, so nothing that a user types acts as an operator.
 * Empty if the term has no word.
 */
function matchOf(term: SearchTerm): string {
  const words = termWords(term)
  return words
    .map((word, i) => {
      const begins = (term.prefix && i === words.length - 1) || word.length > WORD
      return `'${word.slice(0, WORD).replaceAll(/['\\]/g, '$&$&')}'${begins ? ':*' : ''}`
    })
    .join(' & ')
}

/** Compares the phrases of a query with a text. Returns no hit if one does not occur. */
function hitOf(
  { id, session, chat, turn, who, time, text }: FoundRow,
  terms: readonly SearchTerm[],
): readonly { readonly id: number; readonly text: FoundText }[] {
  const words = wordsOf(text)
  const places = terms.map((term) => placesOf(termWords(term), term.prefix, words))
  if (places.some((each) => each.length === 0)) return []
  const named = { ...(chat !== session && { chat }), ...(turn !== '' && { turnId: turn }) }
  const excerpt = excerptOf(marked({ text, words }, places.flat()))
  return [{ id, text: { session, ...named, who: authors[who] ?? 'agent', time, excerpt } }]
}
