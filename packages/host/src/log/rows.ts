import type { Uri } from '@atrium/protocol/channel'
import type { Row } from './channel.ts'
import type { LogStore } from '../ports/log.ts'
import { rebuild } from './rebuild.ts'

/** So many are asked for at once: what a slice leaves over is asked for again. */
const most = 500

/** These rows of a channel, as they are stored. One that the store has no more is not among them. */
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

/** The first of these rows, about a MiB of them: so many of the ids are done. */
export async function readSome(
  store: LogStore,
  uri: Uri,
  ids: readonly string[],
): Promise<{ readonly rows: ReadonlyMap<string, Row>; readonly count: number }> {
  const { texts, count } = await readTexts(store, uri, ids)
  return { rows: new Map([...texts].map(([id, text]) => [id, JSON.parse(text) as Row])), count }
}

/** The same as JSON, for whoever does not look into them. */
export async function readTexts(
  store: LogStore,
  uri: Uri,
  ids: readonly string[],
): Promise<{ readonly texts: ReadonlyMap<string, string>; readonly count: number }> {
  const slice = await store.rows(uri, ids.slice(0, most))
  const last = slice.rows.at(-1)
  const count = slice.more && last ? ids.indexOf(last.id) + 1 : Math.min(most, ids.length)
  // Whoever asks knows them from the store: if one is not there, it has just been taken away, or is damaged.
  if (slice.rows.length < count) return { texts: await foldedTexts(store, uri), count: ids.length }
  return { texts: new Map(slice.rows.map(({ id, text }) => [id, text])), count }
}

/** Rows are only a cache. Loading all of them finds out which can be trusted, and folds from the birth if one cannot. */
async function foldedTexts(store: LogStore, uri: Uri): Promise<ReadonlyMap<string, string>> {
  const loaded = await store.load(uri)
  if (!loaded) return new Map()
  const { kind, state } = rebuild(uri, loaded)
  const rows = kind.rows === undefined ? [] : (state as Record<string, readonly Row[]>)[kind.rows]
  return new Map(rows?.map((row) => [row.id, JSON.stringify(row)]))
}

/** How long something is as JSON. It is looked at often, and never changes. */
export function lengthOf(item: object): number {
  const length = lengths.get(item) ?? JSON.stringify(item).length
  lengths.set(item, length)
  return length
}

const lengths = new WeakMap<object, number>()
