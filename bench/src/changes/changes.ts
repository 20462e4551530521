import { beginTable } from './begin.ts'
import { capturesTable } from './captures.ts'
import { diffTable } from './diff.ts'

/** Measures how fast the host captures the files of a folder around a turn, and how fast it compares two captures. */
export async function changesBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = {
    captures: capturesTable,
    begin: beginTable,
    diff: diffTable,
  }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}
