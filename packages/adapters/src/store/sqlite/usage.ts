import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Uri } from '@atrium/protocol/channel'

type Database = InstanceType<typeof DatabaseSync>

/** What a part of a data folder takes on the disk. */
export interface PartUsage {
  readonly part: string
  readonly bytes: number
  /** The number of entries. Absent for a part that does not consist of entries. */
  readonly count?: number
}

/**
 * What a session takes on the disk: the texts of its chats and of itself, and its blobs, without the overhead of
 * pages and indexes.
 */
export interface SessionUsage {
  readonly session: Uri
  readonly title: string
  readonly bytes: number
}

export interface DiskUsage {
  readonly parts: readonly PartUsage[]
  /** The largest sessions, the largest first. */
  readonly sessions: readonly SessionUsage[]
}

/** The tables of each part of the store that a usage report names. An index is counted with its table. */
const tablesOf: { readonly [part: string]: readonly string[] } = {
  actions: ['envelopes', 'kept'],
  'sealed actions': ['segments', 'segment_clients'],
  'finished turns': ['rows'],
  states: ['channels', 'heads', 'tails', 'forgotten'],
  records: ['records'],
  blobs: ['blobs'],
}

/**
 * Measures the store in a folder. The file is read without locks, so that a host may use it at the same time. What the host
 * has not moved from its journal into the file counts as journal.
 */
export function diskUsage(folder: string, most = 10): DiskUsage {
  const url = pathToFileURL(join(folder, 'atrium.db'))
  url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true })
  try {
    const parts = [...tableParts(db), ...fileParts(folder)]
    // The tables of a new store are at first only in its journal, which is not read here. Then no session is listed.
    return { parts, sessions: hasTable(db, 'channels') ? largest(db, most) : [] }
  } finally {
    db.close()
  }
}

function tableParts(db: Database): PartUsage[] {
  const sizes = all<{ table: string; bytes: number }>(
    db,
    `SELECT tbl_name AS "table", sum(pgsize) AS bytes FROM dbstat JOIN sqlite_schema USING (name) GROUP BY tbl_name`,
  )
  const existing = new Map(sizes.map(({ table, bytes }) => [table, bytes]))
  const parts = Object.entries(tablesOf).map(([part, tables]) => {
    const bytes = tables.reduce((sum, table) => sum + (existing.get(table) ?? 0), 0)
    const [table = ''] = tables
    const column = table === 'segments' ? 'sum(count)' : 'count(*)'
    const [{ n } = { n: 0 }] = existing.has(table)
      ? all<{ n: number | null }>(db, `SELECT ${column} AS n FROM ${table}`)
      : []
    return { part, bytes, count: n ?? 0 }
  })
  const [free] = all<{ pages: number; size: number }>(
    db,
    `SELECT freelist_count AS pages, page_size AS size FROM pragma_freelist_count, pragma_page_size`,
  )
  return [...parts, { part: 'free pages', bytes: (free?.pages ?? 0) * (free?.size ?? 0) }]
}

/**
 * Measures the files beside the store: its journal, the search index, and the backups that were made before
 * migrations.
 */
function fileParts(folder: string): PartUsage[] {
  const names = readdirSync(folder)
  const sizeOf = (found: readonly string[]) =>
    found.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0)
  const backups = names.filter((name) => /^atrium-v\d+-.*\.db$/.test(name))
  return [
    { part: 'journal', bytes: sizeOf(names.filter((name) => name === 'atrium.db-wal')) },
    { part: 'search index', bytes: sizeOf(names.filter((name) => /^search\.db(-wal)?$/.test(name))) },
    { part: 'backups', bytes: sizeOf(backups), count: backups.length },
  ]
}

function largest(db: Database, most: number): SessionUsage[] {
  const ofChannels = new Map(
    all<{ uri: Uri; bytes: number }>(db, channelSizes(db)).map(({ uri, bytes }) => [uri, bytes]),
  )
  const ofBlobs = new Map(
    all<{ session: Uri; bytes: number }>(
      db,
      `SELECT session, sum(length(bytes)) AS bytes FROM blobs GROUP BY session`,
    ).map(({ session, bytes }) => [session, bytes]),
  )
  const summaries = all<{ text: string }>(
    db,
    `SELECT text FROM records WHERE key >= 'session/' AND key < 'session0'`,
  )
  return summaries
    .map(({ text }) => {
      // The host stores a session summary as JSON, after some numbers of its own. Hence the search for `{` and the
      // cast.
      const {
        resource,
        title = '',
        chats = [],
      } = JSON.parse(text.slice(text.indexOf('{'))) as {
        resource: Uri
        title?: string
        chats?: readonly { resource: Uri }[]
      }
      const channels = [resource, ...chats.map((chat) => chat.resource)]
      const bytes = channels.reduce(
        (sum, uri) => sum + (ofChannels.get(uri) ?? 0),
        ofBlobs.get(resource) ?? 0,
      )
      return { session: resource, title, bytes }
    })
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, most)
}

/**
 * Returns the SQL for the length of everything that each channel has. A store of an earlier build has no segments.
 */
function channelSizes(db: Database): string {
  const sealed = hasTable(db, 'segments')
  const texts = [
    `SELECT id AS channel, octet_length(state) AS bytes FROM channels`,
    `SELECT channel, octet_length(state) FROM heads`,
    `SELECT channel, octet_length(text) FROM rows`,
    `SELECT channel, octet_length(action) + ifnull(octet_length(origin), 0) FROM envelopes`,
    ...(sealed ? [`SELECT channel, length(bytes) FROM segments`] : []),
  ]
  return `SELECT uri, sum(bytes) AS bytes FROM (${texts.join(' UNION ALL ')}) JOIN channels ON id = channel GROUP BY uri`
}

const hasTable = (db: Database, name: string): boolean =>
  all(db, `SELECT 1 FROM sqlite_schema WHERE name = '${name}'`).length > 0

/** Runs a query. The caller names the columns that its SQL returns. */
function all<T>(db: Database, sql: string): T[] {
  return db.prepare(sql).all() as T[]
}
