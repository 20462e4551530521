/**
 * The schema of `atrium.db`. A `sum` is 52 bits of SHA-256 over a row and the URI of its channel. It detects a row that was
 * changed or moved to another channel. `chain` binds each envelope to the previous envelope of the same channel.
 * The schema of version 1 is here; the migrations below lead to the present one.
 */
export const SCHEMA = `
  -- 'schema': the schema version. 'upTo': the highest sequence number that may have been assigned.
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

  -- The creation of each channel. The id is used by the other tables only, and may be reused after the channel is dropped and
  -- deleted. A channel that is dropped and not deleted yet has a BLOB as its uri (drop.ts).
  CREATE TABLE channels (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    sum INTEGER NOT NULL
  );

  -- The end of each channel: its last number and chain, and the xor of the sums of its rows. A table of its own, because
  -- it changes with every transaction and a creation may be large.
  CREATE TABLE tails (
    channel INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    rows INTEGER NOT NULL
  );

  -- The log. A number is used once in the whole store. Indexes need no seq column: SQLite appends the primary key.
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

  -- The items of lists that are stored apart from the state (finished turns), in the order of place.
  CREATE TABLE rows (
    place INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    sum INTEGER NOT NULL,
    UNIQUE (channel, id)
  );
  -- All columns that loading a channel needs, without the long texts.
  CREATE INDEX rows_in_order ON rows (channel, place, id, sum);

  -- The newest stored state of a channel, without its rows. The next envelope continues this chain.
  CREATE TABLE heads (
    channel INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    chain INTEGER NOT NULL,
    sum INTEGER NOT NULL
  );

  -- Tombstones: dropped channels, and the number at which each was dropped.
  CREATE TABLE tombs (uri TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE records (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE blobs (session TEXT NOT NULL, hash TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (session, hash));

  INSERT INTO meta VALUES ('schema', 1), ('upTo', 0);
`

/**
 * The SQL from each schema version to the next. The first element leads from version 1 to 2. A new store runs all migrations.
 * Never change a released migration.
 */
export const MIGRATIONS: readonly string[] = [
  // 2: sealed envelopes.
  `
  -- Segments: slices of the log that are compressed and never change. 'before' and 'after' are the chain at both ends. The
  -- hash covers all columns and the URI of the channel. Every envelope of a segment is older than the channel's own rows.
  CREATE TABLE segments (
    id INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    before INTEGER NOT NULL,
    after INTEGER NOT NULL,
    hash TEXT NOT NULL, -- SHA-256
    bytes BLOB NOT NULL
  );
  CREATE UNIQUE INDEX segments_by_channel ON segments (channel, last);

  -- The clients that dispatched envelopes of a segment, each with the number of its last envelope there.
  CREATE TABLE segment_clients (
    client TEXT NOT NULL,
    last INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    channel INTEGER NOT NULL,
    PRIMARY KEY (client, last)
  ) WITHOUT ROWID;
  CREATE INDEX segment_clients_by_channel ON segment_clients (channel);
  `,
  // 3: no tombstones of channels. Nothing ever read them: the host has records of the URIs that must not be used again.
  `DROP TABLE tombs;`,
  // 4: forgotten envelopes.
  `
  -- The channels whose creation is a checkpoint, with the number of the checkpoint and the chain up to it.
  CREATE TABLE forgotten (
    channel INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    sum INTEGER NOT NULL
  );

  -- Forgotten envelopes that a client may send again.
  CREATE TABLE kept (
    seq INTEGER PRIMARY KEY,
    client TEXT NOT NULL,
    channel INTEGER NOT NULL,
    action TEXT NOT NULL,
    origin TEXT NOT NULL,
    sum INTEGER NOT NULL
  );
  CREATE INDEX kept_by_client ON kept (client);
  CREATE INDEX kept_by_channel ON kept (channel);
  `,
  // 5: records with checksums, which the host adds to their texts. Earlier builds cannot read such texts.
  `-- Nothing changes: a record gets its checksum when it is written next.`,
]
