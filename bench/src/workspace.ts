import { ptyTable } from './workspace/pty.ts'

/** What the machine gives to agents and people: terminals. */
export async function workspaceBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = { pty: ptyTable }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}
