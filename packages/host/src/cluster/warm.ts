import { prefix } from '../catalog/session-list/stored-list.ts'
import type { Store } from '../ports/store.ts'

/** The number of sessions whose states are read. Those that were changed last are the likeliest to be used after a take-over. */
const most = 100

/**
 * Reads what a take-over and its first clients read: all records, and the heads of the sessions that were changed last. Nothing is kept:
 * the caches of the database, the connections and the code are warm then. A take-over reads everything again, because only
 * what is committed then counts.
 */
export async function warmRead({ records, log }: Pick<Store, 'records' | 'log'>): Promise<void> {
  const sessions = (await records.list('')).filter(([key]) => key.startsWith(prefix))
  const newest = sessions
    .map(([key, text]) => ({ uri: key.slice(prefix.length), at: modifiedAt(text) }))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, most)
  for (const { uri } of newest) await log.load(uri, 1)
}

/** The time of the last change in an entry of the session list. An entry that cannot be read is reported by the take-over. */
function modifiedAt(text: string): string {
  return /"modifiedAt":"([^"]+)"/.exec(text)?.[1] ?? ''
}
