import type { Handlers } from '../../process/thread-request.ts'
import { only } from '../../store/sql/work.ts'
import { Failure } from '../../store/postgres/failure.ts'
import { fence } from '../../store/postgres/fence.ts'
import { keyOf } from '../../store/postgres/key.ts'
import { Link, transaction } from '../../store/postgres/link.ts'
import type { Query } from '../../store/postgres/link.ts'
import { tablesOf } from '../../store/postgres/migrate.ts'
import type { PostgresPlace } from '../../store/postgres/place.ts'
import { SEARCH, VERSION } from './schema.ts'
import { quoted } from '../../store/postgres/session.ts'
import type { FoundRow, PackedChange, PackedText, SearchApi, SearchOptions } from './worker-api.ts'

interface OpenSearch {
  readonly api: Omit<Handlers<SearchApi>, 'openSearch'>
  readonly value: ReturnType<SearchApi['openSearch']>
}

interface Id {
  readonly id: number
}

/** Opens the search index of a store. Every change is one transaction, and is refused if another epoch has begun. */
export async function openSearch({ target, epoch, patience, idle }: SearchOptions): Promise<OpenSearch> {
  const place = { ...target, schema: `${target.schema}_search` }
  const link = new Link({ target: place, patience, answer: 60_000, idle })
  const change = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
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
  async function created(): Promise<string | undefined> {
    try {
      return await change((query) => create(query, place))
    } catch (error) {
      await link.close()
      throw error
    }
  }

  const api: OpenSearch['api'] = {
    begin: (begun, trusted) =>
      change(async (query) => {
        const last = await metaOf(query, 'index_meta', 'epoch')
        if (last === null || last === undefined || !trusted.includes(last))
          await query('UPDATE sessions SET version = 0')
        await query(`UPDATE index_meta SET value = $1 WHERE key = 'epoch'`, [begun])
        const { rows } = await query<{ readonly uri: string; readonly version: number }>(
          'SELECT uri, version FROM sessions',
        )
        return rows.map(({ uri, version }) => [uri, version] as const)
      }),

    update: (what) => change((query) => update(query, what)),

    /** Returns texts that contain all words, newest first. The caller checks phrases. */
    find: ({ match, from, to, limit, provider, folder }) =>
      link.run(async (query) => {
        const inside = folder === null || folder === '/' ? folder : `${folder}/`
        const { rows } = await query<FoundRow>(
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
 */
async function create(query: Query, { name, schema }: PostgresPlace): Promise<string | undefined> {
  const tables = await tablesOf(query, schema)
  const version = tables.includes('index_meta')
    ? await metaOf(query, `${quoted(schema)}.index_meta`, 'version')
    : undefined
  if (version === VERSION) return undefined
  if (tables.length > 0 && !Number.isSafeInteger(version))
    throw new Failure(
      'unreadable',
      `the schema "${schema}" at ${name}, which the search index needs, has the tables of another program`,
    )
  if (version && version > VERSION)
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

/** Returns a value of the table of the index. Undefined if it is not there. */
async function metaOf(query: Query, table: string, key: string): Promise<number | null | undefined> {
  const text = `SELECT value FROM ${table} WHERE key = $1`
  return (await query<{ readonly value: number | null }>(text, [key])).rows[0]?.value
}

async function update(
  query: Query,
  { session: uri, entry, turns, kept, version }: PackedChange,
): Promise<void> {
  const chats = entry ? [...entry.chats, { chat: uri, titles: entry.titles }] : []
  const known = (await query<Id>('SELECT id FROM sessions WHERE key = $1', [keyOf(uri)])).rows[0]?.id
  if (known !== undefined) {
    const { rows } = await query<Id>(
      'DELETE FROM chats WHERE session = $1 AND key <> ALL ($2::text[]) RETURNING id',
      [known, chats.map(({ chat }) => keyOf(chat))],
    )
    await query('DELETE FROM texts WHERE chat = ANY ($1::bigint[])', [rows.map(({ id }) => id)])
  }
  if (!entry) return void (await query('DELETE FROM sessions WHERE key = $1', [keyOf(uri)]))
  const { rows } = await query<Id>(
    `INSERT INTO sessions (key, uri, provider, folders, version) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (key) DO UPDATE SET provider = excluded.provider, folders = excluded.folders, version = excluded.version
     RETURNING id`,
    [keyOf(uri), uri, entry.provider, entry.folders, version],
  )
  const session = only(rows)
  const ids = new Map<string, number>()
  for (const { chat, titles } of chats) {
    const put = await query<Id>(
      `INSERT INTO chats (key, uri, session) VALUES ($1, $2, $3) ON CONFLICT (key) DO UPDATE SET session = excluded.session
       RETURNING id`,
      [keyOf(chat), chat, session.id],
    )
    const { id } = only(put.rows)
    ids.set(chat, id)
    await replace(query, { chat: id, turn: '', texts: titles })
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

/** The texts of a turn, or the titles of a chat. */
interface TurnTexts {
  readonly chat: number
  readonly turn: string
  readonly texts: readonly PackedText[]
}

type StoredText = Id & Pick<PackedText, 'who' | 'time' | 'text'>

const isSame = (one: StoredText, other: PackedText): boolean =>
  one.who === other.who && one.time === other.time && one.text === other.text

/** Replaces the texts of a turn. An empty `turn` stands for the titles of a chat. Texts that are the same stay untouched. */
async function replace(query: Query, { chat, turn, texts }: TurnTexts): Promise<void> {
  const { rows: old } = await query<StoredText>(
    'SELECT id, who::int AS who, time, text FROM texts WHERE chat = $1 AND key = $2',
    [chat, keyOf(turn)],
  )
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

/** Returns a free position: after the last text of the second, or the first free one after the second. */
async function freePosition(query: Query, base: number): Promise<number> {
  const { rows } = await query<{ readonly last: number | null }>(
    'SELECT max(id) AS last FROM texts WHERE id >= $1 AND id < $2',
    [base, base + 256],
  )
  const { last } = only(rows)
  if (last === null) return base
  if (last + 1 < base + 256) return last + 1
  const next = await query<{ readonly free: number }>(
    `SELECT id + 1 AS free FROM texts t WHERE id >= $1 AND NOT EXISTS (SELECT 1 FROM texts n WHERE n.id = t.id + 1)
     ORDER BY id LIMIT 1`,
    [base + 255],
  )
  return only(next.rows).free
}
