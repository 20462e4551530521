import type { DamagedChannel } from '@atrium/host/ports/log'
import { Damage } from '../lines.ts'

/**
 * A work on a database: a generator that yields statements, and is given their rows. So the same code works on a database that answers at
 * once and on one that answers later. A statement that fails throws inside the work.
 */
export type Work<T> = Generator<Asked, T, readonly unknown[]>

/** A statement and the values of its parameters. The database prepares one with a name once for each connection. */
export interface Asked {
  readonly text: string
  readonly name: string | undefined
  readonly values: readonly Value[]
}

export type Value = string | number | Uint8Array | null | readonly string[] | readonly number[]

/** A statement, as a function of its values. */
export type Ask<Row> = (...values: readonly Value[]) => Work<readonly Row[]>

/** Returns the statement with this text. `Row`: its rows, as the text names their columns. */
export function asked<Row>(text: string, name?: string): Ask<Row> {
  return function* (...values) {
    // The cast names the columns of the text. What is read from a damaged store is verified by its checksums.
    return (yield { text, name, values }) as readonly Row[]
  }
}

/** Returns the row of a statement that always has one row. */
export function only<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('the database has answered with no row')
  return row
}

/**
 * Does a work that reads. If the data is damaged, returns a value that describes the damage and does not throw, so that the other channels
 * stay usable. `damageOf` tells the damage that an error of the database means.
 */
export function* orDamaged<T>(
  { damageOf }: { damageOf(error: unknown): string | undefined },
  work: Work<T>,
): Work<T | DamagedChannel> {
  try {
    return yield* work
  } catch (error) {
    const damaged = error instanceof Damage ? error.message : damageOf(error)
    if (damaged === undefined) throw error
    return { damaged }
  }
}

/** Returns what a function reads; nothing if that is damaged. */
export function undamaged<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof Damage) return []
    throw error
  }
}
