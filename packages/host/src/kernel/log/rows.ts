import type { Uri } from '@atrium/protocol/channel'
import { rowsIn } from './channel-rows.ts'
import type { Row } from './channel-rows.ts'
import type { LogStore } from '../../ports/log.ts'
import { rebuild } from './rebuild.ts'

/** The maximum number of rows in one request to the store. */
const maxIds = 500

/** Reads rows of a channel from the store. A row that the store no longer has is left out. */
export async function readRows(
  store: LogStore,
  uri: Uri,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  const found = new Map<string, Row>()
  for (let at = 0; at < ids.length;) {
    const some = await readSome(store, uri, ids.slice(at))
    for (const [id, row] of some.rows) found.set(id, row)
    at += some.count
  }
  return found
}

/** Reads the first of these rows, up to about one MiB. `count`: the number of ids that were looked up. */
export async function readSome(
  store: LogStore,
  uri: Uri,
  ids: readonly string[],
): Promise<{ readonly rows: ReadonlyMap<string, Row>; readonly count: number }> {
  const { texts, count } = await readTexts(store, uri, ids)
  // The cast is safe: the rows of this channel were stored as the JSON of a `Row`.
  return { rows: new Map([...texts].map(([id, text]) => [id, JSON.parse(text) as Row])), count }
}

/** Does the same as `readSome`, but returns the rows as JSON texts. */
export async function readTexts(
  store: LogStore,
  uri: Uri,
  ids: readonly string[],
): Promise<{ readonly texts: ReadonlyMap<string, string>; readonly count: number }> {
  const slice = await store.rows(uri, ids.slice(0, maxIds))
  const last = slice.rows.at(-1)
  const count = slice.more && last ? ids.indexOf(last.id) + 1 : Math.min(maxIds, ids.length)
  // The ids came from this store. So a missing row was removed just now, or is damaged. Both are settled by
  // rebuilding the rows from the actions.
  if (slice.rows.length < count) return { texts: await foldedTexts(store, uri), count: ids.length }
  return { texts: new Map(slice.rows.map(({ id, text }) => [id, text])), count }
}

/**
 * Rebuilds the rows by loading the whole channel. Stored rows are only a cache: when a load of all rows finds a
 * damaged one, the rows are made again from the actions since the creation of the channel.
 */
async function foldedTexts(store: LogStore, uri: Uri): Promise<ReadonlyMap<string, string>> {
  const loaded = await store.load(uri)
  if (!loaded) return new Map()
  const { kind, state } = rebuild(uri, loaded)
  return new Map(rowsIn(kind.rows, state).map((row) => [row.id, JSON.stringify(row)]))
}

/** The number of characters of a value as JSON. It is cached, because it is needed often and values never change. */
export function lengthOf(item: object): number {
  const length = lengths.get(item) ?? JSON.stringify(item).length
  lengths.set(item, length)
  return length
}

const lengths = new WeakMap<object, number>()
