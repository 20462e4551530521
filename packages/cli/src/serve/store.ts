import { StoreLocked, StoreUnreadable, openSqlite } from '@atrium/adapters/store/sqlite'
import { DiskFull } from '@atrium/host/ports/log'
import type { PostgresPlace } from '@atrium/adapters/store/postgres'
import type { SearchIndex } from '@atrium/host/ports/search-index'
import type { Store } from '@atrium/host/ports/store'
import type { Settings } from './config-fields.ts'
import { readPostgres } from './postgres.ts'
import { CommandError, exits, sentenceOf, systemCode } from '../terminal/exit.ts'

/** The open store of a host. */
export interface OpenedStore {
  readonly store: Store
  /** The search index of a store in a database. Absent: the index is in the data folder. */
  readonly search?: SearchIndex
  /** The reason why the host is read-only, for clients. It has no path and no error of the system (S-27). */
  readonly readOnly?: string
  /** A sentence about the store for the log of the host. */
  readonly warning?: string
}

/**
 * Opens the store of a host that shares it with nobody: the one in the data folder, or a database for reading only. If the folder
 * cannot be written, opens the store for reading only. Throws if another process uses the store, if it cannot be read, or if the
 * disk is full.
 */
export async function openStore(
  { data, readOnly }: Pick<Settings, 'data' | 'readOnly'>,
  place?: PostgresPlace,
): Promise<OpenedStore> {
  if (readOnly) {
    const reason = 'This host was started read-only.'
    const opened = place ? await readPostgres(place) : { store: await openSqlite(data, { readOnly }) }
    return { ...opened, readOnly: reason, warning: reason }
  }
  try {
    let warning: string | undefined
    const store = await openSqlite(data, { notice: (sentence) => (warning = sentence) })
    return { store, ...(warning !== undefined && { warning }) }
  } catch (error) {
    if (error instanceof StoreLocked)
      throw new CommandError(
        `${error.message}; use that host (atrium ls), or end it first: atrium stop`,
        exits.inUse,
      )
    if (error instanceof StoreUnreadable || isFull(error)) throw error
    const store = await openSqlite(data, { readOnly: true }).catch(() => {
      throw error
    })
    return {
      store,
      readOnly: 'The disk of this host cannot be written: the host is read-only.',
      warning: `${data} cannot be written (${sentenceOf(error)}): this host is read-only.`,
    }
  }
}

/** The sentence about a store that has lost changes which the host had confirmed; undefined if none are lost. */
export function lossIn(data: string, { log }: Store): string | undefined {
  if (log.lost === undefined) return undefined
  if (log.upTo === 0)
    return (
      `The store in ${data} has lost everything, all sessions, although the host had confirmed them: ` +
      'it was emptied or replaced. Bring back a copy of the folder: atrium restore FOLDER.'
    )
  return (
    `The store in ${data} has lost its newest changes, although the host had confirmed them: ` +
    'its journal was damaged or removed, or an older copy was restored.'
  )
}

/** Calls `start`, which starts a host. Turns the error of a full disk into a sentence for the user (L4.7). */
export async function unlessFull<T>(data: string, start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    if (!isFull(error)) throw error
    throw new CommandError(
      `The disk of ${data} is full; free some space and start again, or read what is there with --read-only.`,
    )
  }
}

function isFull(error: unknown): boolean {
  return error instanceof DiskFull || systemCode(error) === 'ENOSPC'
}
