/**
 * The version of the schema and of `prepared` (`words.ts`). An index with another version is deleted and built again.
 */
export const VERSION = 1

/** The schema of `search.db`. Nothing in it is needed: the host can build it again from the store. */
export const SCHEMA = `
  -- 'schema': the version. 'epoch': the first number of the last epoch that has kept the index up to date.
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;

  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    folders TEXT NOT NULL, -- a JSON array of paths
    version INTEGER NOT NULL -- 0: there are changes to come
  );

  -- The chats. The title of a session belongs to a row with the URI of the session.
  CREATE TABLE chats (id INTEGER PRIMARY KEY, uri TEXT NOT NULL UNIQUE, session INTEGER NOT NULL);
  CREATE INDEX chats_by_session ON chats (session);

  -- The texts. The id orders them by time. The columns that a filter reads are apart from the long texts.
  CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    chat INTEGER NOT NULL,
    turn TEXT NOT NULL, -- empty: a title
    who INTEGER NOT NULL,
    time INTEGER NOT NULL
  );
  CREATE INDEX texts_by_turn ON texts (chat, turn);
  CREATE TABLE contents (id INTEGER PRIMARY KEY, text TEXT NOT NULL);

  CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'contents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
  );
  -- A deleted text leaves the file at once. Otherwise its words would stay until SQLite rewrites a part of the index.
  INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

  INSERT INTO meta VALUES ('schema', ${VERSION}), ('epoch', NULL);
`
