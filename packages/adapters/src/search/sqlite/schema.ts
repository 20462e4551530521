import { SEPARATORS } from './separators.ts'

/** The row id of position 0 (`positionOf` in `words.ts`). A later position has a lower row id. */
export const OLDEST_ROW = 2 ** 52

/**
 * Returns the row id of the text at a position. The newest text has the lowest row id, because FTS5 reads lists of row
 * ids from the lowest on. Backwards, it must first read the whole list if a text was ever deleted.
 */
export const rowAt = (position: number): number => OLDEST_ROW - position

/** Returns the position of the text with a row id. */
export const positionAt = (id: number): number => OLDEST_ROW - id

/** The version of the schema and of `prepared` (`words.ts`). An index with another version is deleted and built again. */
export const VERSION = 4

/** The schema of `search.db`. Nothing in it is needed: the host can build it again from the store. */
export const SCHEMA = `
  -- 'schema': the version. 'epoch': the first number of the last epoch that has kept the index up to date.
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;

  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    version INTEGER NOT NULL -- 0: there are changes to come
  );

  CREATE TABLE folders (path TEXT NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (path, session)) WITHOUT ROWID;
  CREATE INDEX folders_by_session ON folders (session);

  -- The chats. The title of a session belongs to a row with the URI of the session.
  CREATE TABLE chats (id INTEGER PRIMARY KEY, uri TEXT NOT NULL UNIQUE, session INTEGER NOT NULL);
  CREATE INDEX chats_by_session ON chats (session);

  -- What is known of each text. The id orders the texts by time, the newest first (rowAt).
  CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    chat INTEGER NOT NULL,
    turn TEXT NOT NULL, -- empty: a title
    who INTEGER NOT NULL,
    time INTEGER NOT NULL
  );
  CREATE INDEX texts_by_turn ON texts (chat, turn);
  -- The texts themselves, by position. So a new text comes last, and SQLite fills the pages of this large table.
  CREATE TABLE contents (position INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE VIEW contents_by_id AS
    SELECT id, text FROM texts CROSS JOIN contents ON position = ${OLDEST_ROW} - id;

  CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'contents_by_id', content_rowid = 'id', columnsize = 0,
    tokenize = "unicode61 remove_diacritics 2 separators '${SEPARATORS}'"
  );
  -- The words of a deleted text are overwritten at once. Otherwise they would stay until FTS5 merges its segments.
  INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

  INSERT INTO meta VALUES ('schema', ${VERSION}), ('epoch', NULL);
`
