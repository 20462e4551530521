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
import { isBoundDamaged, isEmptiedBesideJournal, keepJournal, readBound } from './bound-file.js'
import { MIGRATIONS, SCHEMA } from './schema.js'
import { rewriteOnce } from './shrink.js'

/** @typedef {InstanceType<typeof DatabaseSync>} Database */
/** @typedef {{ folder: string, readOnly: boolean, laterMigrations?: readonly string[], bound?: number, room?: { disk: number, memory: number } }} OpenOptions */

/** A failure in the worker. The main thread chooses an error class by its `meaning`. */
export class Failure extends Error {
  /**
   * @param {'full' | 'locked' | 'unreadable'} meaning
   * @param {string} message
   */
  constructor(meaning, message) {
    super(message)
    this.meaning = meaning
  }
}

/**
 * Opens the database in a folder, locks it and migrates it to the newest schema version. Returns also a sentence for the
 * user, if there is something to say.
 * @param {OpenOptions} options
 * @returns {{ db: Database, notice: string | undefined }}
 */
export function openDatabase(options) {
  const path = join(options.folder, 'atrium.db')
  /** @type {Database | undefined} */
  let db
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
 * @param {Database} db
 * @param {OpenOptions} options
 */
export function closeDatabase(db, { folder, readOnly }) {
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

/**
 * @param {unknown} error
 * @returns {number} SQLite's primary result code; 0 if the error is not from SQLite
 */
export const codeOf = (error) =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 255 : 0

/**
 * Whether an error means damage. SQLite sometimes reports damage without the result code for it. A number that the store
 * never writes is damage too.
 * @param {unknown} error
 */
export const isDamage = (error) =>
  codeOf(error) === CORRUPT ||
  (error instanceof Error && /disk image is malformed|too large to be represented/.test(error.message))

/**
 * Whether an error means that the disk could not be read or written. SQLite sometimes reports it without a result code.
 * @param {unknown} error
 */
export const isOfDisk = (error) =>
  codeOf(error) === IOERR || (error instanceof Error && error.message.includes('disk I/O error'))

/** The size in bytes to which the journal is cut when it begins anew. */
const JOURNAL = 16 * 1024 * 1024
/** The number of pages in the journal after which it is moved into the file: nearly as many as the journal may keep. */
const PAGES = 4000

// Result codes of SQLite.
const PERM = 3
const READONLY = 8
const IOERR = 10
const CANTOPEN = 14
export const BUSY = 5
export const CORRUPT = 11
export const FULL = 13

/**
 * @param {string} folder
 * @param {string} path
 */
function openToWrite(folder, path) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // SQLite gives its other files the mode of this file. An existing file is not opened here, because closing it would release
  // this process's POSIX locks on the file.
  if (!existsSync(path)) writePrivately(path, '')
  chmodSync(path, 0o600)
  // The mode must be set before anything is written. To set it for an existing file would write to the journal, which may
  // have to be kept as it is.
  const isNew = statSync(path).size === 0
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false })
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
 * @param {string} path
 */
function openToRead(path) {
  if (!existsSync(path)) throw new Failure('unreadable', `there is no store at ${path}`)
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, { readOnly: true })
}

/**
 * @param {Database} db
 * @param {OpenOptions} options
 */
function migrate(db, { folder, readOnly, laterMigrations = [] }) {
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

/**
 * Throws if a move into the store has not ended (`move/move.ts`).
 * @param {Database} db
 * @param {string} folder
 */
function refuseUnfinished(db, folder) {
  if (db.prepare(`SELECT 1 FROM meta WHERE key = 'move'`).get())
    throw new Failure(
      'unreadable',
      `the move into the store in ${folder} has not ended: run the same atrium move again`,
    )
}

/**
 * Writes the records again in the order of their keys if a flipped bit has broken the order, because SQLite then finds neither the
 * record nor its neighbours, or if it has made a key that is no text any more, because nobody can ask for such a key.
 * @param {Database} db
 */
function sortRecords(db) {
  const problems = problemsIn(db)
  // Pages that are damaged themselves cannot be written again: whoever reads such a record is told.
  if (!problems.every((text) => text.includes('PRIMARY KEY order'))) return
  // Only a key with as many characters as bytes, and without NUL, is plain ASCII; the others may be no text.
  const odd = db.prepare(
    'SELECT hex(key) AS bytes FROM records WHERE length(CAST(key AS BLOB)) <> length(key)',
  )
  const isText = odd.all().every(({ bytes }) => Buffer.byteLength(keyIn(bytes)) * 2 === bytes.length)
  if (problems.length === 0 && isText) return
  const rows = db.prepare('SELECT hex(key) AS bytes, text FROM records').all()
  db.exec('BEGIN IMMEDIATE; DELETE FROM records')
  const put = db.prepare('INSERT OR IGNORE INTO records (key, text) VALUES (?, ?)')
  for (const { bytes, text } of rows) put.run(keyIn(bytes), text)
  db.exec('COMMIT')
}

/**
 * Returns what SQLite finds wrong in the table of records.
 * @param {Database} db
 * @returns {readonly string[]}
 */
function problemsIn(db) {
  try {
    const found = db.prepare(`PRAGMA integrity_check('records')`).all()
    return found.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  } catch (error) {
    if (!isDamage(error)) throw error
    return [String(error)]
  }
}

/**
 * Returns a key as text, with U+FFFD in place of what is no text.
 * @param {string} bytes in hexadecimal
 */
const keyIn = (bytes) => Buffer.from(bytes, 'hex').toString().replaceAll('\0', '\ufffd')

/**
 * Returns the schema version. An empty database has version 0.
 * @param {Database} db
 * @returns {number}
 */
function versionOf(db) {
  const tables = db.prepare('SELECT name FROM sqlite_schema').all()
  if (tables.length === 0) return 0
  if (!tables.some(({ name }) => name === 'meta'))
    throw new Failure('unreadable', 'it is the database of another program')
  return Number(db.prepare(`SELECT value FROM meta WHERE key = 'schema'`).get()?.value)
}

/**
 * Returns the highest `upTo` in the database; 0 for an empty one.
 * @param {Database} db
 * @returns {number}
 */
function boundIn(db) {
  return versionOf(db) === 0
    ? 0
    : Number(db.prepare(`SELECT value FROM meta WHERE key = 'upTo'`).get()?.value)
}

/**
 * @param {Database} db
 * @param {string} folder
 * @param {number} version
 */
function backUp(db, folder, version) {
  const stamp = new Date().toISOString().replace(/[-:]/g, '')
  const path = join(folder, `atrium-v${version}-${stamp}.db`)
  writePrivately(path, '')
  db.exec(`VACUUM INTO '${path.replaceAll("'", "''")}'`)
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/**
 * @param {unknown} error
 * @param {string} folder
 * @param {string} path
 */
function toFailure(error, folder, path) {
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

/** @param {unknown} error */
const isWriteProtected = (error) =>
  [PERM, READONLY, CANTOPEN].includes(codeOf(error)) ||
  (error instanceof Error && 'code' in error && ['EROFS', 'EACCES', 'EPERM'].includes(String(error.code)))

/** @param {string} folder */
function holder(folder) {
  try {
    return `process ${readFileSync(pidFile(folder), 'utf8').trim()}`
  } catch {
    return 'another process'
  }
}

/** @param {string} folder */
const pidFile = (folder) => join(folder, 'atrium.pid')

/**
 * Writes a file that only its owner can read. Neither the umask nor the earlier mode of the file has an effect.
 * @param {string} path
 * @param {string} text
 */
function writePrivately(path, text) {
  writeFileSync(path, text, { mode: 0o600 })
  chmodSync(path, 0o600)
}
