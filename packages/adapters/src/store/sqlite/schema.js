/**
 * What is in `atrium.db`. A sum is 52 bits of SHA-256 over the row and its channel's URI, so that a row that was changed,
 * or that strayed to another channel, is noticed. `chain` binds each envelope to the one before it in its channel.
 */
export const SCHEMA = `
  -- 'schema': the version of this file. 'upTo': no number above it was ever handed out.
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

  -- How each channel was born. The id is only for the other tables; it is free again when the channel is dropped.
  CREATE TABLE channels (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    sum INTEGER NOT NULL
  );

  -- Where each channel ends: its last number and chain, and the sums of its rows, all xor-ed. Beside the births, because
  -- it changes with every transaction and a birth may be large.
  CREATE TABLE tails (
    channel INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    rows INTEGER NOT NULL
  );

  -- The log itself. A number is used once in the whole store. An index ends with the seq by itself.
  CREATE TABLE envelopes (
    seq INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL,
    action TEXT NOT NULL,
    origin TEXT, -- JSON; null: the host said it
    sum INTEGER NOT NULL,
    chain INTEGER NOT NULL
  );
  CREATE INDEX envelopes_by_channel ON envelopes (channel);
  CREATE INDEX envelopes_by_client ON envelopes (origin ->> 'clientId') WHERE origin IS NOT NULL;

  -- One item each of the list a kind keeps so (finished turns), in the order of place.
  CREATE TABLE rows (
    place INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    sum INTEGER NOT NULL,
    UNIQUE (channel, id)
  );
  -- All that is to be known of the rows of a channel, without their texts.
  CREATE INDEX rows_in_order ON rows (channel, place, id, sum);

  -- The newest state of a channel without its rows; chain is what the next envelope continues.
  CREATE TABLE heads (
    channel INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    chain INTEGER NOT NULL,
    sum INTEGER NOT NULL
  );

  -- Channels that were dropped, and at which number.
  CREATE TABLE tombs (uri TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE records (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE blobs (session TEXT NOT NULL, hash TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (session, hash));

  INSERT INTO meta VALUES ('schema', 1), ('upTo', 0);
`

/**
 * SQL that leads from each version to the next: the first from 1 to 2. A new store runs them all. Never change one that
 * was released.
 * @type {readonly string[]}
 */
export const MIGRATIONS = []
