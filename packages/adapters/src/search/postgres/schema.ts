/**
 * The tables of the search index, in a schema beside that of the store, so that they can be dropped and built again. `words` has
 * the words of a text as the host finds them (`words.ts`), and not as PostgreSQL would.
 */
export const SEARCH = `
  CREATE TABLE index_meta (key text PRIMARY KEY, value bigint);
  INSERT INTO index_meta VALUES ('version', 2), ('epoch', NULL);

  CREATE TABLE sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text COLLATE "C" NOT NULL UNIQUE,
    uri text NOT NULL,
    provider text NOT NULL,
    folders text[] NOT NULL,
    version bigint NOT NULL -- 0: there are changes to come
  );

  -- The chats. The title of a session belongs to a row with the URI of the session.
  CREATE TABLE chats (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text COLLATE "C" NOT NULL UNIQUE,
    uri text NOT NULL,
    session bigint NOT NULL
  );
  CREATE INDEX chats_by_session ON chats (session);

  -- The texts. The id orders them by time.
  CREATE TABLE texts (
    id bigint PRIMARY KEY,
    chat bigint NOT NULL,
    key text COLLATE "C" NOT NULL, -- of the turn; empty: a title
    turn text NOT NULL,
    who smallint NOT NULL,
    time bigint NOT NULL,
    text text NOT NULL,
    words tsvector NOT NULL
  );
  CREATE INDEX texts_by_turn ON texts (chat, key);
  CREATE INDEX texts_by_word ON texts USING gin (words) WITH (fastupdate = off);
`

/** The version of the tables and of the words (`words.ts`). An index with another version is dropped and built again. */
export const VERSION = 2
