import { Failure } from './failure.js'
import { fence } from './fence.js'
import { keyOf } from './key.js'
import { Link, transaction } from './link.js'
import { tablesOf } from './migrate.js'
import { SEARCH, VERSION } from './search-schema.js'
import { quoted } from './session.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {import('./session.js').Target} Target */
/** @typedef {{ target: Target, epoch?: number | undefined, patience: number, idle: number }} SearchOptions without an epoch, the index is only searched */
/** @typedef {{ who: number, time: number, text: string, position: number, words: readonly string[] }} PackedText */
/** @typedef {{ session: string, entry?: { provider: string, folders: readonly string[], titles: readonly PackedText[], chats: readonly { chat: string, titles: readonly PackedText[] }[] }, turns: readonly { chat: string, turnId: string, texts: readonly PackedText[] }[], kept: readonly { chat: string, turnIds: readonly string[] }[], version: number }} PackedChange */

/**
 * Opens the search index of a store. Every change is one transaction, and is refused if another epoch has begun.
 * @param {SearchOptions} options
 */
export async function openSearch({ target, epoch, patience, idle }) {
  const place = { ...target, schema: `${target.schema}_search` }
  const link = new Link({ target: place, patience, answer: 60_000, idle })
  /**
   * @template T
   * @param {(query: Query) => Promise<T>} work
   */
  const change = (work) =>
    link.run((query) =>
      transaction(query, async () => {
        // The fence is a table of the store.
        await query(`SET LOCAL search_path TO ${quoted(target.schema)}`)
        await fence(query, epoch ?? -1)
        await query(`SET LOCAL search_path TO ${quoted(place.schema)}`)
        return work(query)
      }),
    )
  const rebuilt = epoch === undefined ? undefined : await created()

  /** Creates the tables. A connection that is no use keeps no place at the server. */
  async function created() {
    try {
      return await change((query) => create(query, place))
    } catch (error) {
      await link.close()
      throw error
    }
  }

  const api = {
    /**
     * @param {number} begun
     * @param {readonly number[]} trusted
     */
    begin: (begun, trusted) =>
      change(async (query) => {
        const last = (await query(`SELECT value FROM index_meta WHERE key = 'epoch'`)).rows[0]?.value
        if (!trusted.includes(last)) await query('UPDATE sessions SET version = 0')
        await query(`UPDATE index_meta SET value = $1 WHERE key = 'epoch'`, [begun])
        const { rows } = await query('SELECT uri, version FROM sessions')
        return rows.map(({ uri, version }) => [uri, version])
      }),

    /** @param {PackedChange} what */
    update: (what) => change((query) => update(query, what)),

    /**
     * Returns texts that contain all words, newest first. The caller checks phrases.
     * @param {{ match: string, from: number, to: number, limit: number, provider: string | null, folder: string | null }} asked
     */
    find: ({ match, from, to, limit, provider, folder }) =>
      link.run(async (query) => {
        const inside = folder === null || folder === '/' ? folder : `${folder}/`
        const { rows } = await query(
          `SELECT t.id AS id, turn, who::int AS who, time, text, c.uri AS chat, s.uri AS session
           FROM texts t JOIN chats c ON c.id = t.chat JOIN sessions s ON s.id = c.session
           WHERE words @@ $1::tsquery AND t.id >= $2 AND t.id < $3 AND ($5::text IS NULL OR provider = $5)
             AND ($6::text IS NULL OR EXISTS (SELECT 1 FROM unnest(folders) f WHERE f = $6 OR starts_with(f, $7)))
           ORDER BY t.id DESC LIMIT $4`,
          [match, from, to, limit, provider, folder, inside],
        )
        return rows
      }),

    clear: () =>
      change(async (query) => {
        await query('TRUNCATE sessions, chats, texts')
        await query(`UPDATE index_meta SET value = NULL WHERE key = 'epoch'`)
      }),

    close: () => link.close(),
  }
  return { api, value: { rebuilt } }
}

/**
 * Creates the tables if there are none, or if they have another version. Returns a reason if an index was replaced. Throws if the
 * schema has the tables of another program, or of another store.
 * @param {Query} query
 * @param {Target} place
 * @returns {Promise<string | undefined>}
 */
async function create(query, { name, schema }) {
  const tables = await tablesOf(query, schema)
  const { rows } = tables.includes('index_meta')
    ? await query(`SELECT value FROM ${quoted(schema)}.index_meta WHERE key = 'version'`)
    : { rows: [] }
  const version = rows[0]?.value
  if (version === VERSION) return undefined
  if (tables.length > 0 && !Number.isSafeInteger(version))
    throw new Failure(
      'unreadable',
      `the schema "${schema}" at ${name}, which the search index needs, has the tables of another program`,
    )
  if (version > VERSION)
    throw new Failure(
      'unreadable',
      `the search index "${schema}" has version ${version}. Start a newer Atrium.`,
    )
  await query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)
  // Tables beside those of the index may be somebody else's.
  await query('DROP TABLE IF EXISTS index_meta, sessions, chats, texts')
  await query(SEARCH)
  return version === undefined ? undefined : `it had version ${version}`
}

/**
 * @param {Query} query
 * @param {PackedChange} change
 */
async function update(query, { session: uri, entry, turns, kept, version }) {
  const chats = entry ? [...entry.chats, { chat: uri, titles: entry.titles }] : []
  const known = (await query('SELECT id FROM sessions WHERE key = $1', [keyOf(uri)])).rows[0]?.id
  if (known !== undefined) {
    const { rows } = await query(
      'DELETE FROM chats WHERE session = $1 AND key <> ALL ($2::text[]) RETURNING id',
      [known, chats.map(({ chat }) => keyOf(chat))],
    )
    await query('DELETE FROM texts WHERE chat = ANY ($1::bigint[])', [rows.map(({ id }) => id)])
  }
  if (!entry) return void (await query('DELETE FROM sessions WHERE key = $1', [keyOf(uri)]))
  const { rows } = await query(
    `INSERT INTO sessions (key, uri, provider, folders, version) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (key) DO UPDATE SET provider = excluded.provider, folders = excluded.folders, version = excluded.version
     RETURNING id`,
    [keyOf(uri), uri, entry.provider, entry.folders, version],
  )
  /** @type {Map<string, number>} */
  const ids = new Map()
  for (const { chat, titles } of chats) {
    const put = await query(
      `INSERT INTO chats (key, uri, session) VALUES ($1, $2, $3) ON CONFLICT (key) DO UPDATE SET session = excluded.session
       RETURNING id`,
      [keyOf(chat), chat, rows[0].id],
    )
    ids.set(chat, put.rows[0].id)
    await replace(query, { chat: put.rows[0].id, turn: '', texts: titles })
  }
  for (const { chat, turnIds } of kept) {
    const id = ids.get(chat)
    if (id !== undefined)
      await query(`DELETE FROM texts WHERE chat = $1 AND key <> '' AND key <> ALL ($2::text[])`, [
        id,
        turnIds.map(keyOf),
      ])
  }
  for (const { chat, turnId, texts } of turns) {
    const id = ids.get(chat)
    if (id !== undefined) await replace(query, { chat: id, turn: turnId, texts })
  }
}

/**
 * Replaces the texts of a turn. An empty `turn` stands for the titles of a chat. Texts that are the same stay untouched.
 * @param {Query} query
 * @param {{ chat: number, turn: string, texts: readonly PackedText[] }} what
 */
async function replace(query, { chat, turn, texts }) {
  const { rows: old } = await query(
    'SELECT id, who::int AS who, time, text FROM texts WHERE chat = $1 AND key = $2',
    [chat, keyOf(turn)],
  )
  const isSame = (/** @type {any} */ one, /** @type {PackedText} */ other) =>
    one.who === other.who && one.time === other.time && one.text === other.text
  const gone = old.filter((one) => !texts.some((text) => isSame(one, text)))
  if (gone.length > 0)
    await query('DELETE FROM texts WHERE id = ANY ($1::bigint[])', [gone.map(({ id }) => id)])
  for (const text of texts) {
    if (old.some((one) => isSame(one, text))) continue
    await query(
      `INSERT INTO texts (id, chat, key, turn, who, time, text, words)
       VALUES ($1, $2, $3, $4, $5, $6, $7, array_to_tsvector($8::text[]))`,
      [
        await freePosition(query, text.position),
        chat,
        keyOf(turn),
        turn,
        text.who,
        text.time,
        text.text,
        text.words,
      ],
    )
  }
}

/**
 * Returns a free position: after the last text of the second, or the first free one after the second.
 * @param {Query} query
 * @param {number} base
 * @returns {Promise<number>}
 */
async function freePosition(query, base) {
  const { rows } = await query('SELECT max(id) AS last FROM texts WHERE id >= $1 AND id < $2', [
    base,
    base + 256,
  ])
  const last = rows[0].last
  if (last === null) return base
  if (last + 1 < base + 256) return last + 1
  const next = await query(
    `SELECT id + 1 AS free FROM texts t WHERE id >= $1 AND NOT EXISTS (SELECT 1 FROM texts n WHERE n.id = t.id + 1)
     ORDER BY id LIMIT 1`,
    [base + 255],
  )
  return next.rows[0].free
}
