/** @typedef {import('./open.js').Database} Database */
/** @typedef {import('./worker-api.ts').PackedChange} PackedChange */
/** @typedef {import('./worker-api.ts').PackedText} PackedText */

/**
 * The number of texts that one transaction deletes. To delete a text takes some milliseconds, because all its words are
 * removed from the index, and a search must not wait long.
 */
const SLICE = 16

/**
 * Changes the index. A change that deletes many texts takes several transactions, and searches may run in between.
 * @param {Database} db
 */
export function writer(db) {
  const sql = statements(db)
  /**
   * For each second with more texts than positions, by its first position: the next position to try.
   * @type {Map<number, number>}
   */
  const overflow = new Map()

  /** @param {() => void} work */
  const together = (work) => {
    db.exec('BEGIN IMMEDIATE')
    try {
      work()
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }

  /** @param {number} id */
  const remove = (id) => {
    const text = sql.content.get(id)?.text
    if (text !== undefined) sql.forgetWords.run(id, text)
    sql.dropContent.run(id)
    sql.dropText.run(id)
  }

  /**
   * Deletes texts, slice by slice. `next` finds the ids of the next slice; an empty slice ends the work.
   * @param {() => readonly { id: number }[]} next
   */
  const removeAll = async (next) => {
    let found = next()
    if (found.length === 0) return
    for (; found.length > 0; found = next()) {
      together(() => {
        for (const { id } of found) remove(id)
      })
      // A search that has come meanwhile runs now.
      await new Promise((resolve) => void setImmediate(resolve))
    }
    db.exec('PRAGMA incremental_vacuum(256)')
  }

  /** @param {number} base */
  const freePosition = (base) => {
    const last = sql.last.get(base, base + 256)?.id
    if (last === null || last === undefined) return base
    if (last + 1 < base + 256) return last + 1
    let at = overflow.get(base) ?? base + 256
    while (sql.text.get(at)) at++
    overflow.set(base, at + 1)
    return at
  }

  /**
   * Replaces the texts of a turn. An empty `turn` stands for the titles of a chat. Texts that are the same stay
   * untouched.
   * @param {number} chat
   * @param {string} turn
   * @param {readonly PackedText[]} texts
   */
  const replace = (chat, turn, texts) => {
    const old = sql.ofTurn.all(chat, turn)
    const isSame = (/** @type {any} */ one, /** @type {PackedText} */ other) =>
      one.who === other.who && one.time === other.time && one.text === other.text
    for (const one of old) if (!texts.some((text) => isSame(one, text))) remove(one.id)
    for (const text of texts) {
      if (old.some((one) => isSame(one, text))) continue
      const id = freePosition(text.position)
      sql.addText.run(id, chat, turn, text.who, text.time)
      sql.addContent.run(id, text.text)
      sql.addWords.run(id, text.text)
    }
  }

  /** @param {number} session @param {string} listed */
  const dropChats = async (session, listed) => {
    await removeAll(() => sql.unlisted.all(session, listed, SLICE))
    sql.dropChats.run(session, listed)
  }

  return {
    /** @param {number} epoch @param {readonly number[]} trusted */
    begin(epoch, trusted) {
      const last = sql.epoch.get()?.value
      together(() => {
        if (!trusted.includes(last)) sql.forgetVersions.run()
        sql.setEpoch.run(epoch)
      })
      return sql.versions.all().map(({ uri, version }) => [uri, version])
    },

    /** @param {PackedChange} change */
    async update({ session: uri, entry, turns, kept, version }) {
      const known = sql.session.get(uri)
      if (!entry) {
        if (!known) return
        sql.setVersion.run(0, known.id)
        await dropChats(known.id, '[]')
        sql.dropSession.run(known.id)
        return
      }
      const chats = [...entry.chats, { chat: uri, titles: entry.titles }]
      if (known) {
        // Version 0 says that the session is not up to date, until the change is complete.
        sql.setVersion.run(0, known.id)
        await dropChats(known.id, JSON.stringify(chats.map(({ chat }) => chat)))
      }
      for (const { chat, turnIds } of kept) {
        const id = sql.chat.get(chat)?.id
        if (id !== undefined) await removeAll(() => sql.cut.all(id, turnIds, SLICE))
      }
      together(() => {
        const session = sql.putSession.get(uri, entry.provider, entry.folders, version)?.id
        for (const { chat, titles } of chats) {
          sql.putChat.run(chat, session)
          replace(sql.chat.get(chat)?.id, '', titles)
        }
        for (const { chat, turnId, texts } of turns) {
          const id = sql.chat.get(chat)?.id
          if (id !== undefined) replace(id, turnId, texts)
        }
      })
    },
  }
}

/** @param {Database} db */
function statements(db) {
  return {
    epoch: db.prepare(`SELECT value FROM meta WHERE key = 'epoch'`),
    setEpoch: db.prepare(`UPDATE meta SET value = ? WHERE key = 'epoch'`),
    versions: db.prepare(`SELECT uri, version FROM sessions`),
    forgetVersions: db.prepare(`UPDATE sessions SET version = 0`),
    session: db.prepare(`SELECT id FROM sessions WHERE uri = ?`),
    putSession: db.prepare(
      `INSERT INTO sessions (uri, provider, folders, version) VALUES (?, ?, ?, ?)
       ON CONFLICT (uri) DO UPDATE SET provider = excluded.provider, folders = excluded.folders, version = excluded.version
       RETURNING id`,
    ),
    setVersion: db.prepare(`UPDATE sessions SET version = ? WHERE id = ?`),
    dropSession: db.prepare(`DELETE FROM sessions WHERE id = ?`),
    chat: db.prepare(`SELECT id FROM chats WHERE uri = ?`),
    putChat: db.prepare(
      `INSERT INTO chats (uri, session) VALUES (?, ?) ON CONFLICT (uri) DO UPDATE SET session = excluded.session`,
    ),
    dropChats: db.prepare(
      `DELETE FROM chats WHERE session = ? AND uri NOT IN (SELECT value FROM json_each(?))`,
    ),
    unlisted: db.prepare(
      `SELECT t.id AS id FROM chats c JOIN texts t ON t.chat = c.id
       WHERE c.session = ? AND c.uri NOT IN (SELECT value FROM json_each(?)) LIMIT ?`,
    ),
    cut: db.prepare(
      `SELECT id FROM texts WHERE chat = ? AND turn <> '' AND turn NOT IN (SELECT value FROM json_each(?)) LIMIT ?`,
    ),
    ofTurn: db.prepare(
      `SELECT t.id AS id, who, time, text FROM texts t JOIN contents c ON c.id = t.id WHERE chat = ? AND turn = ?`,
    ),
    last: db.prepare(`SELECT max(id) AS id FROM texts WHERE id >= ? AND id < ?`),
    text: db.prepare(`SELECT 1 FROM texts WHERE id = ?`),
    addText: db.prepare(`INSERT INTO texts (id, chat, turn, who, time) VALUES (?, ?, ?, ?, ?)`),
    dropText: db.prepare(`DELETE FROM texts WHERE id = ?`),
    content: db.prepare(`SELECT text FROM contents WHERE id = ?`),
    addContent: db.prepare(`INSERT INTO contents (id, text) VALUES (?, ?)`),
    dropContent: db.prepare(`DELETE FROM contents WHERE id = ?`),
    addWords: db.prepare(`INSERT INTO words (rowid, text) VALUES (?, ?)`),
    forgetWords: db.prepare(`INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)`),
  }
}
