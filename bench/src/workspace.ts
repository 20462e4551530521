<<<<<<< HEAD
import { outputTable } from './workspace/output.ts'
import { readsTable } from './workspace/reads.ts'

/** What agents and people touch all day: shells, files, watches. */
export async function workspaceBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = {
    output: outputTable,
    reads: readsTable,
  }
=======
import { ptyTable } from './workspace/pty.ts'

/** What the machine gives to agents and people: terminals. */
export async function workspaceBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = { pty: ptyTable }
>>>>>>> 80c73adcca0bdfc38b3e0ea4b66aa32134975cb2
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}
