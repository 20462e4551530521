/**
 * The tables of a store. They are those of `sqlite/schema.ts`, with the same checksums and chains, and some of PostgreSQL's own:
 * `epoch` is the fence, `lease` the right to be the owner, `bounds` the number of the last batch. The first schema is here; the
 * migrations below lead to the present one.
 */
export const SCHEMA = `
  -- 'schema': the schema version. 'host': the id of the host. 'shape': the tables as they were created.
  CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);

  -- The epoch of the owner. Every write locks this row for sharing, so a new owner, which changes it, waits for writes.
  -- Renewals change another table, so that neither waits for the other.
  CREATE TABLE epoch (one boolean PRIMARY KEY DEFAULT true CHECK (one), epoch bigint NOT NULL);
  CREATE TABLE lease (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    epoch bigint NOT NULL,
    node text,
    url text,
    expires timestamptz
  );

  -- The number of the last batch, by which a batch of unknown outcome is settled, and the highest sequence number that may
  -- have been assigned.
  CREATE TABLE bounds (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    batch bigint NOT NULL,
    up_to bigint NOT NULL
  ) WITH (fillfactor = 10);

  -- The creation of each channel. A channel that is dropped and not deleted yet has no key. A column "key" has the text
  -- of another column, or its hash if the text is too long for an index (key.ts).
  CREATE SEQUENCE channel_ids;
  CREATE TABLE channels (
    id bigint PRIMARY KEY,
    key text COLLATE "C" UNIQUE,
    uri text NOT NULL,
    kind text NOT NULL,
    seq bigint NOT NULL,
    state text NOT NULL,
    sum bigint NOT NULL
  );
  CREATE INDEX channels_dropped ON channels (id) WHERE key IS NULL;

  -- The end of each channel: its last number and chain, the xor of the sums of its rows, and the place of its last row.
  CREATE TABLE tails (
    channel bigint PRIMARY KEY,
    seq bigint NOT NULL,
    chain bigint NOT NULL,
    rows bigint NOT NULL,
    places bigint NOT NULL
  ) WITH (fillfactor = 50);

  -- The log. A number is used once in the whole store.
  CREATE TABLE envelopes (
    seq bigint PRIMARY KEY,
    channel bigint NOT NULL,
    action text NOT NULL,
    origin text, -- JSON; null: the host said it
    key text COLLATE "C", -- of the client of the origin
    sum bigint NOT NULL,
    chain bigint NOT NULL
  );
  CREATE INDEX envelopes_by_channel ON envelopes (channel, seq);
  CREATE INDEX envelopes_by_client ON envelopes (key, seq) WHERE key IS NOT NULL;

  -- The items of lists that are stored apart from the state (finished turns), in the order of place.
  CREATE TABLE rows (
    channel bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    id text NOT NULL,
    place bigint NOT NULL,
    text text NOT NULL,
    sum bigint NOT NULL,
    PRIMARY KEY (channel, key)
  );
  CREATE INDEX rows_in_order ON rows (channel, place);

  -- The newest stored state of a channel, without its rows. The next envelope continues this chain.
  CREATE TABLE heads (
    channel bigint PRIMARY KEY,
    seq bigint NOT NULL,
    state text NOT NULL,
    chain bigint NOT NULL,
    sum bigint NOT NULL
  );

  -- Slices of the log that are compressed and never change (sqlite/schema.ts).
  CREATE TABLE segments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    count bigint NOT NULL,
    before bigint NOT NULL,
    after bigint NOT NULL,
    hash text NOT NULL,
    bytes bytea NOT NULL
  );
  CREATE UNIQUE INDEX segments_by_channel ON segments (channel, last);
  CREATE TABLE segment_clients (
    key text COLLATE "C" NOT NULL,
    client text NOT NULL,
    last bigint NOT NULL,
    segment bigint NOT NULL,
    channel bigint NOT NULL,
    PRIMARY KEY (key, last)
  );
  CREATE INDEX segment_clients_by_channel ON segment_clients (channel);

  -- The channels whose creation is a checkpoint, and the forgotten envelopes that a client may send again.
  CREATE TABLE forgotten (channel bigint PRIMARY KEY, seq bigint NOT NULL, chain bigint NOT NULL, sum bigint NOT NULL);
  CREATE TABLE kept (
    seq bigint PRIMARY KEY,
    key text COLLATE "C" NOT NULL, -- of the client
    channel bigint NOT NULL,
    action text NOT NULL,
    origin text NOT NULL,
    sum bigint NOT NULL
  );
  CREATE INDEX kept_by_client ON kept (key, seq);
  CREATE INDEX kept_by_channel ON kept (channel, seq);

  CREATE TABLE records (key text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL, text text NOT NULL);
  CREATE INDEX records_by_name ON records (left(name, 200));

  CREATE TABLE blobs (
    key text COLLATE "C" NOT NULL, -- of the session
    session text NOT NULL,
    hash text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (key, hash)
  );
  ALTER TABLE blobs ALTER bytes SET STORAGE EXTERNAL; -- images and archives do not become smaller

  INSERT INTO epoch (epoch) VALUES (0);
  INSERT INTO lease (epoch) VALUES (0);
  INSERT INTO bounds (batch, up_to) VALUES (0, 0);
  INSERT INTO meta VALUES ('schema', '1');
`

/**
 * The SQL from each schema version to the next. The first element leads from version 1 to 2. A new store runs all migrations.
 * Never change a released migration. `meta`, `epoch` and `lease` stay as they are, because nodes of several versions use them.
 */
export const MIGRATIONS: readonly string[] = [
  // 2: records with checksums, which the host adds to their texts. Earlier builds cannot read such texts.
  `-- Nothing changes: a record gets its checksum when it is written next.`,
]
