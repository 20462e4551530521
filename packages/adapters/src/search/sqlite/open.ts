import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Database } from '../../store/database.ts'
import { SCHEMA, VERSION } from './schema.ts'

export interface OpenOptions {
  readonly folder: string
  readonly readOnly: boolean
}

export interface Opened {
  readonly db: Database
  /** The reason why the file was replaced by an empty one; undefined if it was not. */
  readonly rebuilt: string | undefined
}

// Result codes of SQLite. The worker of the store has some of them, too: a file that both workers import would make the bundler
// run one worker in the thread of the other.
const CORRUPT = 11
const FULL = 13
const NOTADB = 26

/** Returns SQLite's primary result code; 0 if the error is not from SQLite. */
const codeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 255 : 0

export const isFull = (error: unknown): boolean =>
  codeOf(error) === FULL || (error instanceof Error && 'code' in error && error.code === 'ENOSPC')

/** Whether an error means that the index must be built again. */
export const isBroken = (error: unknown): boolean =>
  [CORRUPT, NOTADB].includes(codeOf(error)) ||
  error instanceof OtherVersion ||
  // SQLite sometimes reports damage without the result code for it.
  (error instanceof Error && error.message.includes('disk image is malformed'))

/** The error of an index that another build has made. */
class OtherVersion extends Error {}

/**
 * Opens the index in a folder. If the file is damaged, or has another version, it is replaced by an empty one,
 * because the host can build it again.
 */
export function openIndex({ folder, readOnly }: OpenOptions): Opened {
  const path = join(folder, 'search.db')
  if (readOnly) return { db: openToRead(path), rebuilt: undefined }
  try {
    return { db: openToWrite(path), rebuilt: undefined }
  } catch (error) {
    if (!isBroken(error)) throw error
    removeIndex(folder)
    return { db: openToWrite(path), rebuilt: error instanceof Error ? error.message : String(error) }
  }
}

export function removeIndex(folder: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(join(folder, `search.db${end}`), { force: true })
}

function openToWrite(path: string): Database {
  // SQLite gives its other files the mode of this file.
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 })
  chmodSync(path, 0o600)
  const db: Database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  try {
    db.exec(`
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA journal_size_limit = 16777216;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA synchronous = NORMAL; -- a power failure may lose the last changes, and never damages the file
      PRAGMA temp_store = MEMORY;
      PRAGMA secure_delete = ON; -- deleted texts must not stay in free pages
    `)
    if (db.prepare('SELECT name FROM sqlite_schema').all().length === 0)
      db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`)
    checkVersion(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens an index for reading only. An index without a WAL file was closed properly: it is opened as immutable, so
 * that SQLite creates no files.
 */
function openToRead(path: string): Database {
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
  const db: Database = new DatabaseSync(url, { readOnly: true })
  try {
    checkVersion(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function checkVersion(db: Database): void {
  const known = db.prepare<object>(`SELECT 1 FROM sqlite_schema WHERE name = 'meta'`).get()
  const version =
    known &&
    db.prepare<{ readonly value: number }>(`SELECT value FROM meta WHERE key = 'schema'`).get()?.value
  if (version !== VERSION)
    throw new OtherVersion(`it has version ${version ?? 'unknown'}, and this build has version ${VERSION}`)
}
