import { createHash } from 'node:crypto'
import { tables, unlike } from './table.ts'
import type { MovedRow, Side, Table, Value } from './table.ts'

/** The number of the rows of a table, and a hash of all of them. */
export interface Counted {
  readonly table: string
  readonly rows: number
  readonly digest: string
}

/** Thrown if a store cannot be moved. Neither store was changed, or the move can be continued. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused'
}

/**
 * Moves a store into another, empty one. A move that was interrupted is continued. In the end, all tables of both stores are read
 * and compared. The source stays as it is.
 */
export async function move(
  from: Side,
  to: Side,
  report: (table: string, rows: number) => void = () => {},
): Promise<readonly Counted[]> {
  const begun = await to.progress()
  if (begun && begun.from !== from.id)
    throw new MoveRefused(
      `${to.name} has a part of another store; name an empty one, or the store that was moved before.`,
    )
  if (!begun) {
    for (const table of tables)
      if ((await to.read(table, null)).length > 0)
        throw new MoveRefused(`${to.name} is not empty; name a new one.`)
    await to.begin(from.id)
  }
  const first = begun ? tables.findIndex(({ name }) => name === begun.table) : 0
  for (const [at, table] of tables.entries()) {
    if (at < first) continue
    let moved = 0
    let after = begun && at === first ? begun.after : null
    for (let rows = await from.read(table, after); rows.length > 0; rows = await from.read(table, after)) {
      after = keyOf(table, rows.at(-1))
      await to.write(table, rows, { table: table.name, after })
      moved += rows.length
      report(table.name, moved)
    }
  }
  const counted: Counted[] = []
  for (const table of tables) {
    const [there, here] = [await count(from, table), await count(to, table)]
    if (there.rows !== here.rows || there.digest !== here.digest)
      throw new MoveRefused(
        `The table ${table.name} in ${to.name} differs from that in ${from.name} (${here.rows} and ${there.rows} rows). Remove ${to.name}, and move again.`,
      )
    counted.push(here)
  }
  await to.end(await from.upTo())
  return counted
}

/** Counts the rows of a table, and makes a hash of all of them, in the order of both stores. */
async function count(side: Side, table: Table): Promise<Counted> {
  const hash = createHash('sha256')
  let [total, after]: [number, readonly Value[] | null] = [0, null]
  for (let rows = await side.read(table, after); rows.length > 0; rows = await side.read(table, after)) {
    for (const row of rows)
      for (const column of table.columns.filter((name) => !unlike.has(name))) addTo(hash, row[column] ?? null)
    total += rows.length
    after = keyOf(table, rows.at(-1))
  }
  return { table: table.name, rows: total, digest: hash.digest('hex') }
}

/** Adds a value with its kind and its length, so that no two lists of values have the same bytes. */
function addTo(hash: ReturnType<typeof createHash>, value: Value): void {
  const bytes = value === null ? undefined : typeof value === 'object' ? value : Buffer.from(String(value))
  hash.update(bytes ? `${bytes.byteLength}:` : 'null:')
  if (bytes) hash.update(bytes)
}

const keyOf = (table: Table, row: MovedRow | undefined): readonly Value[] =>
  table.order.map((column) => row?.[column] ?? null)
