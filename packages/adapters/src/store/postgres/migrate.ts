import { randomUUID } from 'node:crypto'
import { Failure } from './failure.ts'
import { fence } from './fence.ts'
import { transaction } from './link.ts'
import type { Query } from './link.ts'
import type { PostgresPlace } from './place.ts'
import { MIGRATIONS, SCHEMA } from './schema.ts'
import { quoted } from './session.ts'

interface Migrating {
  readonly target: PostgresPlace
  /** The epoch of the owner. Without one, an older schema stays as it is. */
  readonly epoch?: number | undefined
  readonly laterMigrations?: readonly string[] | undefined
}

/**
 * Creates the tables of a new store, and migrates an older one, in one transaction. Throws if the schema is newer, if it belongs
 * to another program, or if a table was changed by hand. Returns the indexes that were added by hand.
 */
export async function migrate(
  query: Query,
  { target, epoch, laterMigrations = [] }: Migrating,
): Promise<readonly string[]> {
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

interface Value {
  readonly value: string
}

/** Returns the id of the host that the store belongs to. */
export async function hostOf(query: Query): Promise<string> {
  const { rows } = await query<Value>(`SELECT value FROM meta WHERE key = 'host'`)
  if (!rows[0]) throw new Failure('unreadable', 'the id of the host is missing in the table "meta"')
  return rows[0].value
}

/** Returns the schema version. An empty or absent schema has version 0. */
export async function versionOf(query: Query, { name, schema }: PostgresPlace): Promise<number> {
  const tables = await tablesOf(query, schema)
  if (tables.length === 0) return 0
  if (!tables.includes('meta'))
    throw new Failure('unreadable', `the schema "${schema}" at ${name} has the tables of another program`)
  // With the name of the schema: without a right to use it, the search path would say that there is no table.
  const found = await query<Value>(`SELECT value FROM ${quoted(schema)}.meta WHERE key = 'schema'`)
  const version = Number(found.rows[0]?.value)
  if (!Number.isSafeInteger(version))
    throw new Failure('unreadable', `the schema "${schema}" at ${name} does not tell its version`)
  return version
}

/** Returns the names of the tables and views in a schema. */
export async function tablesOf(query: Query, schema: string): Promise<readonly string[]> {
  const { rows } = await query<{ readonly name: string }>(
    `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
    [schema],
  )
  return rows.map((table) => table.name)
}

/** Copies all tables into a schema that is named by their version, so that a failed upgrade can be undone by hand. */
async function keepTables(query: Query, schema: string, version: number): Promise<void> {
  const kept = quoted(`${schema}_v${version}`)
  await query(`CREATE SCHEMA ${kept}`)
  for (const table of Object.keys(await shapeOf(query, schema)))
    await query(`CREATE TABLE ${kept}.${quoted(table)} AS TABLE ${quoted(schema)}.${quoted(table)}`)
}

async function put(query: Query, key: string, value: string): Promise<void> {
  const text = `INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`
  await query(text, [key, value])
}

/**
 * Throws if somebody has changed a table by hand. An added index is allowed unless it can refuse rows, as a unique index can. Returns
 * the names of the added indexes.
 */
async function verifyShape(query: Query, { name, schema }: PostgresPlace): Promise<readonly string[]> {
  const { rows } = await query<Value>(`SELECT value FROM meta WHERE key = 'shape'`)
  // The cast names what this build and earlier ones write.
  const shapes = JSON.parse(rows[0]?.value ?? '{}') as { readonly [table: string]: string }
  const created = Object.entries(shapes)
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

interface Index {
  readonly title: string
  readonly text: string
  readonly refuses: boolean
}

interface TableShape {
  readonly columns: string | null
  readonly indexes: readonly Index[]
  readonly rest: readonly (string | null)[]
}

/**
 * Returns whether a table was created with an index. One that can refuse rows counts as if it was, so that it is a change of the shape.
 */
function hadBy(created: string): (index: Index) => boolean {
  const parts = created.split(/[;,] /)
  return ({ text, refuses }) => refuses || parts.includes(text)
}

/** Returns the shape of every table as one text each. Indexes that are not wanted are left out. */
async function shapeOf(
  query: Query,
  schema: string,
  wanted: (title: string) => boolean = () => true,
): Promise<{ readonly [table: string]: string }> {
  const tables = [...(await tableShapes(query, schema))]
  return Object.fromEntries(
    tables.map(([name, shape]) => [name, composed(shape, ({ title }) => wanted(title))]),
  )
}

function composed({ columns, indexes, rest }: TableShape, wanted: (index: Index) => boolean): string {
  const texts = indexes.filter(wanted).map(({ text }) => text)
  return [columns, texts.length > 0 ? texts.join(', ') : null, ...rest]
    .filter((part) => part !== null)
    .join('; ')
}

/** Reads the columns, indexes, triggers and rules of every table. */
async function tableShapes(query: Query, schema: string): Promise<ReadonlyMap<string, TableShape>> {
  const { rows } = await query<TableShape & { readonly name: string }>(
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
