import type { Handlers } from '../../process/thread-request.ts'
import type { Database } from '../../store/database.ts'
import { OLDEST_ROW, positionAt, rowAt } from './schema.ts'
import type { PackedText, SearchApi } from './worker-api.ts'

/**
 * The number of texts that one transaction deletes. To delete a text takes some milliseconds, because all its words are
 * removed from the index, and a search must not wait long.
 */
const SLICE = 16

/** Changes the index. A change that deletes many texts takes several transactions, and searches may run in between. */
export function writer(db: Database): Pick<Handlers<SearchApi>, 'begin' | 'update'> {
  const sql = statements(db)
  /** For each second with more texts than positions, by its first position: the next position to try. */
  const overflow = new Map<number, number>()

  const together = (work: () => void): void => {
    db.exec('BEGIN IMMEDIATE')
    try {
      work()
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }

  const remove = (id: number): void => {
    const text = sql.content.get(positionAt(id))?.text
    if (text !== undefined) sql.forgetWords.run(id, text)
    sql.dropContent.run(positionAt(id))
    sql.dropText.run(id)
  }

  /** Deletes texts, slice by slice. `next` finds the ids of the next slice; an empty slice ends the work. */
  const removeAll = async (next: () => readonly Id[]): Promise<void> => {
    let found = next()
    if (found.length === 0) return
    for (; found.length > 0; found = next()) {
      together(() => {
        for (const { id } of byRow(found)) remove(id)
      })
      // A search that has come meanwhile runs now.
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
    db.exec('PRAGMA incremental_vacuum(256)')
  }

  /** Returns a free row id for a text of the second that begins at position `base`. */
  const freeRow = (base: number): number => {
    const end = base + 256
    const { id: newest } = sql.newest.get(rowAt(end), rowAt(base))
    if (newest === null) return rowAt(base)
    if (newest - 1 > rowAt(end)) return newest - 1
    let at = overflow.get(base) ?? end
    while (sql.text.get(rowAt(at))) at++
    overflow.set(base, at + 1)
    return rowAt(at)
  }

  /**
   * Replaces the texts of turns. An empty `turn` stands for the titles of a chat. Texts that are the same stay
   * untouched. Row ids are deleted and added in ascending order: for each lower one FTS5 would begin a new segment.
   */
  const replace = (turns: readonly TurnTexts[]): void => {
    const compared = turns.map(({ chat, turn, texts }) => {
      const old = sql.ofTurn.all(chat, turn)
      return {
        gone: old.filter((one) => !texts.some((text) => isSame(one, text))),
        fresh: texts
          .filter((text) => !old.some((one) => isSame(one, text)))
          .map((text) => ({ ...text, chat, turn })),
      }
    })
    for (const { id } of byRow(compared.flatMap(({ gone }) => gone))) remove(id)
    const added = compared
      .flatMap(({ fresh }) => fresh)
      .map(({ chat, turn, who, time, text, position }) => {
        const id = freeRow(position)
        sql.addText.run(id, chat, turn, who, time)
        sql.addContent.run(positionAt(id), text)
        return { id, text }
      })
    for (const { id, text } of byRow(added)) sql.addWords.run(id, text)
  }

  const dropChats = async (session: number, listed: string): Promise<void> => {
    await removeAll(() => sql.unlisted.all(session, listed, SLICE))
    sql.dropChats.run(session, listed)
  }

  return {
    begin(epoch, trusted) {
      const last = sql.epoch.get()?.value ?? null
      together(() => {
        if (last === null || !trusted.includes(last)) sql.forgetVersions.run()
        sql.setEpoch.run(epoch)
      })
      return sql.versions.all().map(({ uri, version }) => [uri, version] as const)
    },

    async update({ session: uri, entry, turns, kept, version }) {
      const known = sql.session.get(uri)
      if (!entry) {
        if (!known) return
        sql.setVersion.run(0, known.id)
        await dropChats(known.id, '[]')
        together(() => {
          sql.dropFolders.run(known.id, '[]')
          sql.dropSession.run(known.id)
        })
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
        const { id: session } = sql.putSession.get(uri, entry.provider, version)
        sql.dropFolders.run(session, entry.folders)
        sql.putFolders.run(session, entry.folders)
        for (const { chat } of chats) sql.putChat.run(chat, session)
        const listed = [
          ...chats.map(({ chat, titles }) => ({ chat, turn: '', texts: titles })),
          ...turns.map(({ chat, turnId, texts }) => ({ chat, turn: turnId, texts })),
        ].flatMap(({ chat, ...rest }) => {
          const id = sql.chat.get(chat)?.id
          return id === undefined ? [] : [{ ...rest, chat: id }]
        })
        // If a change has a turn twice, the later one counts.
        replace([...new Map(listed.map((each) => [`${each.chat} ${each.turn}`, each])).values()])
      })
    },
  }
}

interface Id {
  readonly id: number
}

/** The texts of a turn, or the titles of a chat. */
interface TurnTexts {
  readonly chat: number
  readonly turn: string
  readonly texts: readonly PackedText[]
}

type StoredText = Id & Pick<PackedText, 'who' | 'time' | 'text'>

const byRow = <T extends Id>(texts: readonly T[]): readonly T[] =>
  texts.toSorted((one, other) => one.id - other.id)

const isSame = (one: StoredText, other: PackedText): boolean =>
  one.who === other.who && one.time === other.time && one.text === other.text

function statements(db: Database) {
  return {
    epoch: db.prepare<{ readonly value: number | null }>(`SELECT value FROM meta WHERE key = 'epoch'`),
    setEpoch: db.prepare(`UPDATE meta SET value = ? WHERE key = 'epoch'`),
    versions: db.prepare<{ readonly uri: string; readonly version: number }>(
      `SELECT uri, version FROM sessions`,
    ),
    forgetVersions: db.prepare(`UPDATE sessions SET version = 0`),
    session: db.prepare<Id>(`SELECT id FROM sessions WHERE uri = ?`),
    putSession: db.prepare<Id, never>(
      `INSERT INTO sessions (uri, provider, version) VALUES (?, ?, ?)
       ON CONFLICT (uri) DO UPDATE SET provider = excluded.provider, version = excluded.version RETURNING id`,
    ),
    setVersion: db.prepare(`UPDATE sessions SET version = ? WHERE id = ?`),
    dropSession: db.prepare(`DELETE FROM sessions WHERE id = ?`),
    putFolders: db.prepare(`INSERT OR IGNORE INTO folders (session, path) SELECT ?, value FROM json_each(?)`),
    dropFolders: db.prepare(
      `DELETE FROM folders WHERE session = ? AND path NOT IN (SELECT value FROM json_each(?))`,
    ),
    chat: db.prepare<Id>(`SELECT id FROM chats WHERE uri = ?`),
    putChat: db.prepare(
      `INSERT INTO chats (uri, session) VALUES (?, ?) ON CONFLICT (uri) DO UPDATE SET session = excluded.session`,
    ),
    dropChats: db.prepare(
      `DELETE FROM chats WHERE session = ? AND uri NOT IN (SELECT value FROM json_each(?))`,
    ),
    unlisted: db.prepare<Id>(
      `SELECT t.id AS id FROM chats c JOIN texts t ON t.chat = c.id
       WHERE c.session = ? AND c.uri NOT IN (SELECT value FROM json_each(?)) LIMIT ?`,
    ),
    cut: db.prepare<Id>(
      `SELECT id FROM texts WHERE chat = ? AND turn <> '' AND turn NOT IN (SELECT value FROM json_each(?)) LIMIT ?`,
    ),
    ofTurn: db.prepare<StoredText>(
      `SELECT t.id AS id, who, time, text FROM texts t JOIN contents c ON c.position = ${OLDEST_ROW} - t.id WHERE chat = ? AND turn = ?`,
    ),
    newest: db.prepare<{ readonly id: number | null }, never>(
      `SELECT min(id) AS id FROM texts WHERE id > ? AND id <= ?`,
    ),
    text: db.prepare<object>(`SELECT 1 FROM texts WHERE id = ?`),
    addText: db.prepare(`INSERT INTO texts (id, chat, turn, who, time) VALUES (?, ?, ?, ?, ?)`),
    dropText: db.prepare(`DELETE FROM texts WHERE id = ?`),
    content: db.prepare<Pick<PackedText, 'text'>>(`SELECT text FROM contents WHERE position = ?`),
    addContent: db.prepare(`INSERT INTO contents (position, text) VALUES (?, ?)`),
    dropContent: db.prepare(`DELETE FROM contents WHERE position = ?`),
    addWords: db.prepare(`INSERT INTO words (rowid, text) VALUES (?, ?)`),
    forgetWords: db.prepare(`INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)`),
  }
}
