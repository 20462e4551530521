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
 * to another program, or if a table was changed by hand. Returns the indexes that were added by hand.
 * @param {Query} query
 * @param {Migrating} options
 * @returns {Promise<readonly string[]>}
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
      const added = now > 0 ? await verifyShape(query, target) : []
      if (now > 0) await keepTables(query, schema, now)
      else {
        await query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)
        await query(SCHEMA)
        await query(`INSERT INTO meta VALUES ('host', $1)`, [randomUUID()])
      }
      for (const sql of migrations.slice(Math.max(now - 1, 0))) await query(sql)
      await put(query, 'schema', String(known))
      await put(
        query,
        'shape',
        JSON.stringify(await shapeOf(query, schema, (index) => !added.includes(index))),
      )
    })
  return verifyShape(query, target)
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
 * Throws if a table has not the shape any more that it was created with. An index that was added and refuses nothing is no change of
 * the shape. Returns the names of such indexes.
 * @param {Query} query
 * @param {Target} target
 * @returns {Promise<readonly string[]>}
 */
async function verifyShape(query, { name, schema }) {
  const { rows } = await query(`SELECT value FROM meta WHERE key = 'shape'`)
  /** @type {[string, string][]} */
  const created = Object.entries(JSON.parse(rows[0]?.value ?? '{}'))
  if (created.length === 0)
    throw new Failure('unreadable', `the table "meta" at ${name} was changed by hand. Restore a backup.`)
  const tables = await tableShapes(query, schema)
  for (const [table, shape] of created) {
    const now = tables.get(table)
    if (now && composed(now, hadBy(shape)) === shape) continue
    const how = now === undefined ? 'removed' : 'changed'
    throw new Failure(
      'unreadable',
      `the table "${table}" at ${name} was ${how} by hand. Undo that, or restore a backup.`,
    )
  }
  return created.flatMap(([table, shape]) =>
    (tables.get(table)?.indexes ?? []).filter((index) => !hadBy(shape)(index)).map(({ title }) => title),
  )
}

/** @typedef {{ title: string, text: string, refuses: boolean }} Index */
/** @typedef {{ columns: string | null, indexes: readonly Index[], rest: readonly (string | null)[] }} TableShape */

/**
 * Returns whether a table was created with an index. One that can refuse rows counts as if it was, so that it is a change of the shape.
 * @param {string} created
 * @returns {(index: Index) => boolean}
 */
function hadBy(created) {
  const parts = created.split(/[;,] /)
  return ({ text, refuses }) => refuses || parts.includes(text)
}

/**
 * Returns the shape of every table as one text each. Indexes that are not wanted are left out.
 * @param {Query} query
 * @param {string} schema
 * @param {(title: string) => boolean} wanted
 * @returns {Promise<{ [table: string]: string }>}
 */
async function shapeOf(query, schema, wanted = () => true) {
  const tables = [...(await tableShapes(query, schema))]
  return Object.fromEntries(
    tables.map(([name, shape]) => [name, composed(shape, ({ title }) => wanted(title))]),
  )
}

/**
 * @param {TableShape} shape
 * @param {(index: Index) => boolean} wanted
 */
function composed({ columns, indexes, rest }, wanted) {
  const texts = indexes.filter(wanted).map(({ text }) => text)
  return [columns, texts.length > 0 ? texts.join(', ') : null, ...rest]
    .filter((part) => part !== null)
    .join('; ')
}

/**
 * Reads the columns, indexes, triggers and rules of every table.
 * @param {Query} query
 * @param {string} schema
 * @returns {Promise<Map<string, TableShape>>}
 */
async function tableShapes(query, schema) {
  const { rows } = await query(
    `SELECT c.relname AS name,
       (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, collname), ', ' ORDER BY attnum)
        FROM pg_attribute LEFT JOIN pg_collation l ON l.oid = attcollation
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
       (SELECT coalesce(json_agg(json_build_object('title', r.relname, 'refuses', indisunique OR indisexclusion,
          'text', concat_ws(' ', r.relname, indisunique, indisvalid, indkey::text)) ORDER BY r.relname), '[]')
        FROM pg_index i JOIN pg_class r ON r.oid = indexrelid WHERE indrelid = c.oid) AS indexes,
       ARRAY[(SELECT string_agg(tgname, ', ' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal),
       (SELECT string_agg(rulename, ', ' ORDER BY rulename) FROM pg_rewrite WHERE ev_class = c.oid),
       concat(relrowsecurity)] AS rest
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = $1 AND c.relkind IN ('r', 'p')
     ORDER BY c.relname`,
    [schema],
  )
  return new Map(rows.map(({ name, ...shape }) => [name, shape]))
}
