import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Database } from '../database.ts'
import type { WorkerApi } from '../worker-api.ts'
import { isBoundDamaged, isEmptiedBesideJournal, keepJournal, readBound } from './bound-file.ts'
import { BUSY, FULL, Failure, codeOf, isDamage, isWriteProtected } from './failure.ts'
import { TEXT } from './records.ts'
import { MIGRATIONS, SCHEMA } from './schema.ts'
import { rewriteOnce } from './shrink.ts'

export type OpenOptions = Parameters<WorkerApi['open']>[0]

export interface Opened {
  readonly db: Database
  /** A sentence for the user, if there is something to say. */
  readonly notice: string | undefined
}

/**
 * Opens the database in a folder, locks it and migrates it to the newest schema version.
 */
export function openDatabase(options: OpenOptions): Opened {
  const path = join(options.folder, 'atrium.db')
  let db: Database | undefined
  try {
    if (isEmptiedBesideJournal(options.folder))
      throw new Failure(
        'unreadable',
        `${path} is empty or gone, and its journal atrium.db-wal is not: most of the store is lost. Nothing was changed. ` +
          `Bring back a copy of the folder with atrium restore FOLDER; to begin anew, move both files away`,
      )
    db = options.readOnly ? openToRead(path) : openToWrite(options.folder, path)
    // A journal that has lost steps must be copied before anything is written.
    if (!options.readOnly && readBound(options.folder) > boundIn(db)) keepJournal(options.folder)
    migrate(db, options)
    refuseUnfinished(db, options.folder)
    if (!options.readOnly) sortRecords(db)
    const rewritten = options.readOnly ? undefined : rewriteOnce(db, path, options.room)
    const damaged =
      isBoundDamaged(options.folder) && boundIn(db) > 0
        ? `atrium.upto in ${options.folder} is damaged: whether the store has lost its newest changes cannot be known. The host writes it anew.`
        : undefined
    const notice = [damaged, rewritten].filter((sentence) => sentence !== undefined).join(' ') || undefined
    if (!options.readOnly) writePrivately(pidFile(options.folder), `${process.pid}\n`)
    return { db, notice }
  } catch (error) {
    db?.close()
    throw toFailure(error, options.folder, path)
  }
}

/**
 * Closes the database. The pid file is removed before the lock is released, because after the release it may belong to
 * another host.
 */
export function closeDatabase(db: Database, { folder, readOnly }: OpenOptions): void {
  if (!readOnly) {
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The data is safe in the journal. The next start moves it into the database.
    }
    rmSync(pidFile(folder), { force: true })
  }
  db.close()
}

/** The size in bytes to which the journal is cut when it begins anew. */
const JOURNAL = 16 * 1024 * 1024
/** The number of pages in the journal after which it is moved into the file: nearly as many as the journal may keep. */
const PAGES = 4000

function openToWrite(folder: string, path: string): Database {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // SQLite gives its other files the mode of this file. An existing file is not opened here, because closing it would release
  // this process's POSIX locks on the file.
  if (!existsSync(path)) writePrivately(path, '')
  chmodSync(path, 0o600)
  // The mode must be set before anything is written. To set it for an existing file would write to the journal, which may
  // have to be kept as it is.
  const isNew = statSync(path).size === 0
  const db: Database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  try {
    db.exec(`
      ${isNew ? 'PRAGMA auto_vacuum = INCREMENTAL;' : ''}
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA journal_size_limit = ${JOURNAL}; -- a large transaction must not leave a large journal
      PRAGMA wal_autocheckpoint = ${PAGES}; -- a flush that moves the journal into the file takes ten times as long
      PRAGMA synchronous = FULL;
      PRAGMA temp_store = MEMORY; -- session data must not get into the folder for temporary files
      PRAGMA secure_delete = ON; -- deleted data must not stay in free pages
      BEGIN EXCLUSIVE; -- takes the lock now
      COMMIT;
    `)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens the database for reading. A store that was closed properly is opened as immutable, which creates no files. Any other
 * store cannot be immutable, because SQLite must read its journal.
 */
function openToRead(path: string): Database {
  if (!existsSync(path)) throw new Failure('unreadable', `there is no store at ${path}`)
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, { readOnly: true })
}

function migrate(db: Database, { folder, readOnly, laterMigrations = [] }: OpenOptions): void {
  const migrations = [...MIGRATIONS, ...laterMigrations]
  const known = migrations.length + 1
  const version = versionOf(db)
  if (version > known)
    throw new Failure(
      'unreadable',
      `the store in ${folder} has version ${version}, and this Atrium knows versions up to ${known}. Start a newer Atrium.`,
    )
  if (version === known) return
  if (readOnly && version === 0)
    throw new Failure(
      'unreadable',
      readBound(folder) > 0
        ? `the store in ${folder} has lost everything, although the host had confirmed it: its journal was damaged or removed`
        : `the store in ${folder} is empty`,
    )
  if (readOnly)
    throw new Failure(
      'unreadable',
      `the store in ${folder} has version ${version} and must be migrated to version ${known}, which a read-only host cannot do`,
    )
  if (version > 0) backUp(db, folder, version)
  db.exec(`BEGIN IMMEDIATE; ${version > 0 ? '' : SCHEMA}`)
  for (const sql of migrations.slice(Math.max(version - 1, 0))) db.exec(sql)
  db.exec(`UPDATE meta SET value = ${known} WHERE key = 'schema'; COMMIT`)
}

/** Throws if a move into the store has not ended (`move/move.ts`). */
function refuseUnfinished(db: Database, folder: string): void {
  if (db.prepare<object>(`SELECT 1 FROM meta WHERE key = 'move'`).get())
    throw new Failure(
      'unreadable',
      `the move into the store in ${folder} has not ended: run the same atrium move again`,
    )
}

/**
 * Writes the records again in the order of their keys if a flipped bit has broken the order, because SQLite then finds neither the
 * record nor its neighbours, or if it has made a key that is no text any more, because nobody can ask for such a key.
 */
function sortRecords(db: Database): void {
  const problems = problemsIn(db)
  // Pages that are damaged themselves cannot be written again: whoever reads such a record is told.
  if (!problems.every((text) => text.includes('PRIMARY KEY order'))) return
  // A key of plain ASCII without NUL is text; the others may be none.
  const odd = db.prepare<{ readonly bytes: string }>(
    `SELECT hex(key) AS bytes FROM records
     WHERE length(CAST(key AS BLOB)) <> length(key) OR key GLOB '*[^' || char(1) || '-' || char(127) || ']*'`,
  )
  const isText = odd.all().every(({ bytes }) => Buffer.byteLength(keyIn(bytes)) * 2 === bytes.length)
  if (problems.length === 0 && isText) return
  const rows = db
    .prepare<{ readonly bytes: string; readonly text: string }>(
      `SELECT hex(key) AS bytes, ${TEXT} FROM records`,
    )
    .all()
  db.exec('BEGIN IMMEDIATE; DELETE FROM records')
  const put = db.prepare('INSERT OR IGNORE INTO records (key, text) VALUES (?, ?)')
  for (const [key, text] of apart(rows.map(({ bytes, text }) => [keyIn(bytes), text]))) put.run(key, text)
  db.exec('COMMIT')
}

/**
 * Gives records of one key keys of their own, each with another number of U+FFFD at its end: a flipped bit has made one key equal to
 * another, and only the checksums tell which is which.
 */
function apart(rows: readonly (readonly [key: string, text: string])[]): typeof rows {
  const counts = new Map<string, number>()
  for (const [key] of rows) counts.set(key, (counts.get(key) ?? 0) + 1)
  const used = new Map<string, number>()
  return rows.map(([key, text]) => {
    if (counts.get(key) === 1) return [key, text]
    const number = (used.get(key) ?? 0) + 1
    used.set(key, number)
    return [key + '\ufffd'.repeat(number), text]
  })
}

/** Returns what SQLite finds wrong in the table of records. */
function problemsIn(db: Database): readonly string[] {
  try {
    const check = db.prepare<{ readonly integrity_check: string }>(`PRAGMA integrity_check('records')`)
    const found = check.all()
    return found.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  } catch (error) {
    if (!isDamage(error)) throw error
    return [String(error)]
  }
}

/** Decodes a key from hexadecimal. Bytes that are not valid UTF-8, and NUL, become U+FFFD. */
const keyIn = (bytes: string): string => Buffer.from(bytes, 'hex').toString().replaceAll('\0', '\ufffd')

/** Returns the schema version. An empty database has version 0. */
function versionOf(db: Database): number {
  const tables = db.prepare<{ readonly name: string }>('SELECT name FROM sqlite_schema').all()
  if (tables.length === 0) return 0
  if (!tables.some(({ name }) => name === 'meta'))
    throw new Failure('unreadable', 'it is the database of another program')
  return metaOf(db, 'schema')
}

/** Returns the highest `upTo` in the database; 0 for an empty one. */
function boundIn(db: Database): number {
  return versionOf(db) === 0 ? 0 : metaOf(db, 'upTo')
}

const metaOf = (db: Database, key: string): number =>
  Number(db.prepare<{ readonly value: unknown }>('SELECT value FROM meta WHERE key = ?').get(key)?.value)

function backUp(db: Database, folder: string, version: number): void {
  const stamp = new Date().toISOString().replace(/[-:]/g, '')
  const path = join(folder, `atrium-v${version}-${stamp}.db`)
  writePrivately(path, '')
  db.exec(`VACUUM INTO '${path.replaceAll("'", "''")}'`)
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

function toFailure(error: unknown, folder: string, path: string): Error {
  const message = error instanceof Error ? error.message : String(error)
  if (codeOf(error) === FULL || (error instanceof Error && 'code' in error && error.code === 'ENOSPC'))
    return new Failure('full', `${path}: ${message}`)
  if (codeOf(error) === BUSY)
    return new Failure('locked', `the store in ${folder} is in use by ${holder(folder)}`)
  if (error instanceof Failure && message.includes(folder)) return error
  // A store that cannot be written may still be readable. The caller decides whether to open it for reading.
  if (isWriteProtected(error)) return new Error(`${path} cannot be written: ${message}`)
  return new Failure('unreadable', `the store ${path} cannot be read: ${message}`)
}

function holder(folder: string): string {
  try {
    return `process ${readFileSync(pidFile(folder), 'utf8').trim()}`
  } catch {
    return 'another process'
  }
}

const pidFile = (folder: string): string => join(folder, 'atrium.pid')

/** Writes a file that only its owner can read. Neither the umask nor the earlier mode of the file has an effect. */
function writePrivately(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 })
  chmodSync(path, 0o600)
}
