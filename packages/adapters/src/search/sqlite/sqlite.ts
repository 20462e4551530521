import type {
  Author,
  FoundText,
  IndexedSession,
  IndexedText,
  SearchIndex,
  SearchTerm,
} from '@atrium/host/ports/search-index'
import { excerptOf } from '../excerpt.ts'
import { positionOf, prepared, wordsOf } from '../words.ts'
import { SearchThread } from './search-thread.ts'
import type { PackedChange, PackedFound, PackedText, SearchApi } from './worker-api.ts'

export interface SqliteSearchOptions {
  /**
   * Whether the index is only read. Then only `find` and `close` may be called, and the folder must have an index.
   */
  readonly readOnly?: boolean
  /** Called with the reason if the file was damaged, or had another version, and was replaced by an empty one. */
  readonly rebuilt?: (reason: string) => void
  /** Milliseconds without a request after which the thread ends. The next request starts a new one. */
  readonly idleMs?: number
}

/**
 * Returns the index in `<folder>/search.db`, on FTS5 of SQLite. The file is opened by a request, in a thread of its
 * own. An idle thread ends, because it has 13 MB of memory. The host can build the index again from the store, so the
 * file may be deleted while no host runs.
 */
export function sqliteSearch(folder: string, options: SqliteSearchOptions = {}): SearchIndex {
  const { readOnly = false, rebuilt, idleMs = 30_000 } = options
  let thread: SearchThread | undefined
  let opened: Promise<SearchThread> | undefined
  /** The end of an idle thread. A new thread waits for it, because only one can have the file open. */
  let ending: Promise<unknown> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined
  let requests = 0
  let closed = false
  const open = async (fresh: SearchThread) => {
    await ending
    try {
      const { rebuilt: reason } = await fresh.request('open', { folder, readOnly })
      if (reason !== undefined) rebuilt?.(reason)
      return fresh
    } catch (error) {
      await fresh.close()
      throw error
    }
  }
  /** Returns the thread, with the file open. A thread that has failed is replaced by the next request. */
  const running = () => {
    if (closed) return Promise.reject(new Error('the search index is closed'))
    if (opened && !thread?.ended) return opened
    thread = new SearchThread()
    return (opened = open(thread))
  }
  const endIdle = () => {
    ending = thread?.close().catch(() => undefined) ?? ending
    thread = undefined
    opened = undefined
  }
  const request = async <K extends keyof SearchApi>(name: K, ...args: Parameters<SearchApi[K]>) => {
    clearTimeout(idle)
    requests++
    try {
      return await (await running()).request(name, ...args)
    } finally {
      requests--
      if (requests === 0 && !closed) idle = setTimeout(endIdle, idleMs).unref()
    }
  }

  return {
    begin: async (epoch, trusted) => new Map(await request('begin', epoch, trusted)),
    update: ({ session, entry, turns = [], kept = [], version = 0 }) =>
      request('update', {
        session,
        entry: entry && packedEntry(entry),
        turns: turns.map((turn) => ({ ...turn, texts: packedTexts(turn.texts) })),
        kept: kept.map(({ chat, turnIds }) => ({ chat, turnIds: JSON.stringify(turnIds) })),
        version,
      }),
    async find({ terms, provider = null, folder: inFolder = null, since, until, limit, before }) {
      const { found, next } = await request('find', {
        match: terms.map(matchOf).join(' AND '),
        from: since === undefined ? 0 : positionOf(since),
        to: Math.min(before ?? lastPosition, until === undefined ? lastPosition : positionOf(until)),
        limit,
        provider,
        folder: inFolder,
      })
      const texts = found.map(foundText)
      return next === undefined ? { found: texts } : { found: texts, next }
    },
    clear: () => request('clear'),
    async close() {
      closed = true
      clearTimeout(idle)
      await ending
      await opened?.catch(() => undefined)
      await thread?.close()
    },
  }
}

const lastPosition = Number.MAX_SAFE_INTEGER
const authors: readonly Author[] = ['user', 'agent', 'tool', 'title']

function packedEntry({ provider, folders, title, time, chats }: IndexedSession): PackedChange['entry'] {
  const titles = (text: string) => packedTexts([{ who: 'title', time, text }])
  return {
    provider,
    folders: JSON.stringify(folders),
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
  return texts.flatMap(({ who, time, text }) => {
    const packed = { who: authors.indexOf(who), time, text: prepared(text), position: positionOf(time) }
    return /[\p{L}\p{N}\p{Co}]/u.test(text) ? [packed] : []
  })
}

/**
 * Converts a term to a phrase of FTS5. The phrase contains only the words of the term, so nothing that a user types
 * acts as an operator.
 */
function matchOf({ text, prefix }: SearchTerm): string {
  const clean = prepared(text)
  const phrase = wordsOf(clean).map(({ start, end }) => clean.slice(start, end))
  return `"${phrase.join(' ')}"${prefix ? ' *' : ''}`
}

function foundText({ session, chat, turn, who, time, marked }: PackedFound): FoundText {
  return {
    session,
    ...(chat !== session && { chat }),
    ...(turn !== '' && { turnId: turn }),
    who: authors[who] ?? 'agent',
    time,
    excerpt: excerptOf(marked),
  }
}
