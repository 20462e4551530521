import { outputTable } from './workspace/output.ts'
import { ptyTable } from './workspace/pty.ts'
import { readsTable } from './workspace/reads.ts'
import { treeTable } from './workspace/tree.ts'

/** Measures terminals, files and file watches. */
export async function workspaceBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = {
    output: outputTable,
    pty: ptyTable,
    reads: readsTable,
    tree: treeTable,
  }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}
