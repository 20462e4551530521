import type { Database } from '../../store/database.ts'
import { positionAt, rowAt } from './schema.ts'
import type { PackedFound, PackedQuery, SearchApi } from './worker-api.ts'

/** The number of words in an excerpt. */
const WORDS = 40

/** The maximum number of chats whose texts' times are read before a search in these chats. */
const FEW = 100

/** Whether a session `s` has the wanted provider, and a folder that is wanted or lies in a wanted one. */
const WANTED = `(:provider IS NULL OR s.provider = :provider) AND (:folder IS NULL OR s.id IN (
  SELECT session FROM folders WHERE path = :folder OR path >= :inside AND path < :beyond))`

/** The first and the last row id of the texts of chats; null if they have none. */
interface Times {
  readonly newest: number | null
  readonly oldest: number | null
}

/**
 * Searches the index. FTS5 returns the lowest row ids first, which are those of the newest texts. So the newest page of
 * a common word takes no longer than that of a rare one. A filter that few chats match limits the search to the time
 * of their texts. Within this time, and if many chats match, each text with the words is checked. So a search for a
 * common word takes longer if the chats that match have few of these texts.
 */
export function finder(db: Database): Pick<SearchApi, 'find'> {
  const anywhere = db.prepare<PackedFound>(queryOf(''))
  const inChats = db.prepare<PackedFound>(queryOf('AND t.chat IN (SELECT value FROM json_each(:chats))'))
  const inSessions = db.prepare<PackedFound>(queryOf(`AND ${WANTED}`))
  const chatsOf = db.prepare<{ readonly id: number }>(
    `SELECT c.id AS id FROM sessions s CROSS JOIN chats c ON c.session = s.id WHERE ${WANTED} LIMIT :limit`,
  )
  const timeOf = db.prepare<Times, never>(
    `SELECT min(id) AS newest, max(id) AS oldest FROM texts WHERE chat IN (SELECT value FROM json_each(?))`,
  )

  const search = ({
    match,
    from,
    to,
    limit: wanted,
    provider,
    folder,
  }: PackedQuery): readonly PackedFound[] => {
    const bounds = { match, after: rowAt(to), last: rowAt(from), limit: wanted + 1 }
    if (provider === null && folder === null) return anywhere.all(bounds)
    const parent = folder === '/' ? '' : folder
    // '0' is the character after '/', so the paths in a folder are those between the two.
    const filter = { provider, folder, inside: `${parent}/`, beyond: `${parent}0` }
    const found = chatsOf.all({ ...filter, limit: FEW + 1 }).map(({ id }) => id)
    if (found.length > FEW) return inSessions.all({ ...bounds, ...filter })
    const chats = JSON.stringify(found)
    const { newest, oldest } = timeOf.get(chats)
    if (newest === null || oldest === null) return []
    const after = Math.max(bounds.after, newest - 1)
    return inChats.all({ ...bounds, after, last: Math.min(bounds.last, oldest), chats })
  }

  return {
    find(query) {
      const found = search(query)
      const page = found.slice(0, query.limit)
      const last = page.at(-1)
      return { found: page, next: found.length > page.length && last ? positionAt(last.id) : undefined }
    },
  }
}

function queryOf(filter: string): string {
  // CROSS JOIN makes SQLite keep this order of the tables, with `words` first. The excerpt is made only for texts
  // that are returned. Large numbers are bound as floating-point numbers, and FTS5 uses a limit of row ids only if it
  // is an integer.
  return `SELECT t.id AS id, turn, who, time, c.uri AS chat, s.uri AS session,
      snippet(words, 0, char(1), char(2), '…', ${WORDS}) AS marked
    FROM words CROSS JOIN texts t ON t.id = words.rowid
      CROSS JOIN chats c ON c.id = t.chat CROSS JOIN sessions s ON s.id = c.session
    WHERE words MATCH :match AND words.rowid > CAST(:after AS INTEGER) AND words.rowid <= CAST(:last AS INTEGER) ${filter}
    ORDER BY words.rowid LIMIT :limit`
}
