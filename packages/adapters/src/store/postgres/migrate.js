import { randomUUID } from 'node:crypto'
import { Failure } from './failure.js'
import { fence } from './fence.js'
import { transaction } from './link.js'
import { MIGRATIONS, SCHEMA } from './schema.js'
import { quoted } from './session.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {import('./session.js').Target} Target */
/** @typedef {{ target: Target, epoch?: number | undefined, laterMigrations?: readonly string[] | undefined }} Migrating without an epoch, an older schema stays as it is */

/**
 * Creates the tables of a new store, and migrates an older one, in one transaction. Throws if the schema is newer, if it belongs
 * to another program, or if a table was changed by hand.
 * @param {Query} query
 * @param {Migrating} options
 */
export async function migrate(query, { target, epoch, laterMigrations = [] }) {
  const migrations = [...MIGRATIONS, ...laterMigrations]
  const known = migrations.length + 1
  const { name, schema } = target
  const version = await versionOf(query, target)
  if (version > known)
    throw new Failure(
      'unreadable',
      `the store at ${name} has schema version ${version}, and this Atrium knows versions up to ${known}. Start a newer Atrium.`,
    )
  if (version === 0 || (version < known && epoch !== undefined))
    await transaction(query, async () => {
      // Two nodes may start at once.
      await query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`atrium ${schema}`])
      const now = await versionOf(query, target)
      if (now >= known || (now > 0 && epoch === undefined)) return
      if (now > 0) await fence(query, epoch ?? 0)
      if (now > 0) await keepTables(query, schema, now)
      else {
        await query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)
        await query(SCHEMA)
        await query(`INSERT INTO meta VALUES ('host', $1)`, [randomUUID()])
      }
      for (const sql of migrations.slice(Math.max(now - 1, 0))) await query(sql)
      await put(query, 'schema', String(known))
      await put(query, 'shape', JSON.stringify(await shapeOf(query, schema)))
    })
  await verifyShape(query, target)
}

/**
 * Returns the id of the host that the store belongs to.
 * @param {Query} query
 * @returns {Promise<string>}
 */
export async function hostOf(query) {
  const { rows } = await query(`SELECT value FROM meta WHERE key = 'host'`)
  if (rows.length === 0) throw new Failure('unreadable', 'the id of the host is missing in the table "meta"')
  return rows[0].value
}

/**
 * Returns the schema version. An empty or absent schema has version 0.
 * @param {Query} query
 * @param {Target} target
 * @returns {Promise<number>}
 */
export async function versionOf(query, { name, schema }) {
  const tables = await tablesOf(query, schema)
  if (tables.length === 0) return 0
  if (!tables.includes('meta'))
    throw new Failure('unreadable', `the schema "${schema}" at ${name} has the tables of another program`)
  // With the name of the schema: without a right to use it, the search path would say that there is no table.
  const found = await query(`SELECT value FROM ${quoted(schema)}.meta WHERE key = 'schema'`)
  const version = Number(found.rows[0]?.value)
  if (!Number.isSafeInteger(version))
    throw new Failure('unreadable', `the schema "${schema}" at ${name} does not tell its version`)
  return version
}

/**
 * Returns the names of the tables and views in a schema.
 * @param {Query} query
 * @param {string} schema
 * @returns {Promise<readonly string[]>}
 */
export async function tablesOf(query, schema) {
  const { rows } = await query(
    `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
    [schema],
  )
  return rows.map((table) => table.name)
}

/**
 * Copies all tables into a schema that is named by their version, so that a failed upgrade can be undone by hand.
 * @param {Query} query
 * @param {string} schema
 * @param {number} version
 */
async function keepTables(query, schema, version) {
  const kept = quoted(`${schema}_v${version}`)
  await query(`CREATE SCHEMA ${kept}`)
  for (const table of Object.keys(await shapeOf(query, schema)))
    await query(`CREATE TABLE ${kept}.${quoted(table)} AS TABLE ${quoted(schema)}.${quoted(table)}`)
}

/**
 * @param {Query} query
 * @param {string} key
 * @param {string} value
 */
const put = (query, key, value) =>
  query(`INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, [
    key,
    value,
  ])

/**
 * Throws if a table has not the shape any more that it was created with.
 * @param {Query} query
 * @param {Target} target
 */
async function verifyShape(query, { name, schema }) {
  const { rows } = await query(`SELECT value FROM meta WHERE key = 'shape'`)
  const created = Object.entries(JSON.parse(rows[0]?.value ?? '{}'))
  const now = await shapeOf(query, schema)
  for (const [table, shape] of created)
    if (now[table] !== shape)
      throw new Failure(
        'unreadable',
        `the table "${table}" at ${name} was ${now[table] === undefined ? 'removed' : 'changed'} by hand. Undo that, or restore a backup.`,
      )
  if (created.length === 0)
    throw new Failure('unreadable', `the table "meta" at ${name} was changed by hand. Restore a backup.`)
}

/**
 * Returns the columns, indexes, triggers and rules of every table, as one text each.
 * @param {Query} query
 * @param {string} schema
 * @returns {Promise<{ [table: string]: string }>}
 */
async function shapeOf(query, schema) {
  const { rows } = await query(
    `SELECT c.relname AS name, concat_ws('; ',
       (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, collname), ', ' ORDER BY attnum)
        FROM pg_attribute LEFT JOIN pg_collation l ON l.oid = attcollation
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped),
       (SELECT string_agg(concat_ws(' ', r.relname, indisunique, indisvalid, indkey::text), ', ' ORDER BY r.relname)
        FROM pg_index i JOIN pg_class r ON r.oid = indexrelid WHERE indrelid = c.oid),
       (SELECT string_agg(tgname, ', ' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal),
       (SELECT string_agg(rulename, ', ' ORDER BY rulename) FROM pg_rewrite WHERE ev_class = c.oid),
       relrowsecurity) AS shape
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = $1 AND c.relkind IN ('r', 'p')
     ORDER BY c.relname`,
    [schema],
  )
  return Object.fromEntries(rows.map((table) => [table.name, table.shape]))
}
