/** @typedef {import('./open.js').Database} Database */
/** @typedef {import('./worker-api.ts').PackedQuery} PackedQuery */

/** The number of words in an excerpt. */
const WORDS = 40

/**
 * Searches the index. Row ids order texts by time, and FTS5 returns the highest ids first. So the newest page of a
 * common word takes no longer than that of a rare one.
 * @param {Database} db
 */
export function finder(db) {
  const anywhere = db.prepare(queryOf(''))
  // The subquery finds the chats of the filtered sessions once per search, and not for each text.
  const inSessions = db.prepare(
    queryOf(`AND t.chat IN (SELECT id FROM chats WHERE session IN (
      SELECT id FROM sessions s WHERE (?5 IS NULL OR s.provider = ?5) AND (?6 IS NULL OR EXISTS (
        SELECT 1 FROM json_each(s.folders) WHERE value = ?6 OR substr(value, 1, length(?7)) = ?7))))`),
  )
  return {
    /** @param {PackedQuery} query */
    find({ match, from, to, limit, provider, folder }) {
      const bounds = [match, from, to, limit + 1]
      const inside = folder === null || folder === '/' ? folder : `${folder}/`
      const found =
        provider === null && folder === null
          ? anywhere.all(...bounds)
          : inSessions.all(...bounds, provider, folder, inside)
      const page = found.slice(0, limit)
      return { found: page, next: found.length > limit ? page.at(-1)?.id : undefined }
    },
  }
}

/** @param {string} filter */
function queryOf(filter) {
  // CROSS JOIN makes SQLite keep this order of the tables, with `words` first. The excerpt is made only for texts
  // that are returned.
  return `SELECT t.id AS id, turn, who, time, c.uri AS chat, s.uri AS session,
      snippet(words, 0, char(1), char(2), '…', ${WORDS}) AS marked
    FROM words CROSS JOIN texts t ON t.id = words.rowid CROSS JOIN chats c ON c.id = t.chat CROSS JOIN sessions s ON s.id = c.session
    WHERE words MATCH ?1 AND words.rowid >= ?2 AND words.rowid < ?3 ${filter}
    ORDER BY words.rowid DESC LIMIT ?4`
}
