import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { MIGRATIONS, SCHEMA } from './schema.js'

/** @typedef {InstanceType<typeof DatabaseSync>} Database */
/** @typedef {{ folder: string, readOnly: boolean, migrations?: readonly string[] }} Opening */

/** A failure with the name of what it means to the other side. */
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
 * The database of a folder, locked, at the newest version.
 * @param {Opening} opening
 * @returns {Database}
 */
export function openDatabase(opening) {
  const path = join(opening.folder, 'atrium.db')
  /** @type {Database | undefined} */
  let db
  try {
    db = opening.readOnly ? openToRead(path) : openToWrite(opening.folder, path)
    bringUpToDate(db, opening)
    if (!opening.readOnly) writePrivately(pidFile(opening.folder), `${process.pid}\n`)
    return db
  } catch (error) {
    db?.close()
    throw meaningOf(error, opening.folder, path)
  }
}

/**
 * The pid goes while the lock is still held: afterwards the file may be another host's.
 * @param {Database} db
 * @param {Opening} opening
 */
export function closeDatabase(db, { folder, readOnly }) {
  if (!readOnly) {
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // What could not be moved is safe where it is, and the next start moves it.
    }
    rmSync(pidFile(folder), { force: true })
  }
  db.close()
}

/**
 * @param {unknown} error
 * @returns {number} SQLite's code without its extension; 0 when it is no error of SQLite
 */
export const codeOf = (error) =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 255 : 0

/**
 * SQLite says so, sometimes without its code; or a number is there that we never write.
 * @param {unknown} error
 */
export const isDamage = (error) =>
  codeOf(error) === CORRUPT ||
  (error instanceof Error && /disk image is malformed|too large to be represented/.test(error.message))

const PERM = 3
const READONLY = 8
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
  // SQLite gives its other files the mode of this one. An existing file must not be opened here: closing it would drop
  // the locks that this process may have on it.
  if (!existsSync(path)) writePrivately(path, '')
  chmodSync(path, 0o600)
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  try {
    db.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA temp_store = MEMORY; -- nothing of a session is left in the folder for temporary files
      PRAGMA secure_delete = ON; -- what people dropped is not left in free pages
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
 * A store that was closed well is read without leaving a trace; one that was not needs its journal.
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
 * @param {Opening} opening
 */
function bringUpToDate(db, { folder, readOnly, migrations = MIGRATIONS }) {
  const known = migrations.length + 1
  const version = versionOf(db)
  if (version > known)
    throw new Failure(
      'unreadable',
      `the store in ${folder} has version ${version}, and this Atrium knows versions up to ${known}: start a newer one`,
    )
  if (version === known) return
  if (readOnly)
    throw new Failure(
      'unreadable',
      `the store in ${folder} has version ${version} and is read as version ${known} only`,
    )
  if (version > 0) backUp(db, folder, version)
  db.exec(`BEGIN IMMEDIATE; ${version > 0 ? '' : SCHEMA}`)
  for (const sql of migrations.slice(Math.max(version - 1, 0))) db.exec(sql)
  db.exec(`UPDATE meta SET value = ${known} WHERE key = 'schema'; COMMIT`)
}

/**
 * 0: there is nothing yet.
 * @param {Database} db
 * @returns {number}
 */
function versionOf(db) {
  const tables = db.prepare('SELECT name FROM sqlite_schema').all()
  if (tables.length === 0) return 0
  if (!tables.some(({ name }) => name === 'meta'))
    throw new Failure('unreadable', 'it is the database of something else')
  return Number(db.prepare(`SELECT value FROM meta WHERE key = 'schema'`).get()?.value)
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
function meaningOf(error, folder, path) {
  const message = error instanceof Error ? error.message : String(error)
  if (codeOf(error) === FULL || (error instanceof Error && 'code' in error && error.code === 'ENOSPC'))
    return new Failure('full', `${path}: ${message}`)
  if (codeOf(error) === BUSY)
    return new Failure('locked', `the store in ${folder} is in use by ${holder(folder)}`)
  if (error instanceof Failure && message.includes(folder)) return error
  // It may still be read, and whoever opens it decides about that.
  if (isSealed(error)) return new Error(`${path} cannot be written: ${message}`)
  return new Failure('unreadable', `the store ${path} cannot be read: ${message}`)
}

/** @param {unknown} error */
const isSealed = (error) =>
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
 * For the owner's eyes only, whatever the umask and whoever made it before.
 * @param {string} path
 * @param {string} text
 */
function writePrivately(path, text) {
  writeFileSync(path, text, { mode: 0o600 })
  chmodSync(path, 0o600)
}
