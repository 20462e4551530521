import { idleTable } from './load/idle.ts'
import { rateTable } from './load/rate.ts'
import { reconnectTable } from './load/reconnect.ts'

/** Measures the host with many clients, relative to a bare `ws` host in the same run. */
export async function loadBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = {
    idle: idleTable,
    rate: rateTable,
    return: reconnectTable,
  }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}
