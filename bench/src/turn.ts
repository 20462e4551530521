import { openTable } from './turn/open.ts'
import { sleepTable } from './turn/sleep.ts'
import { streamTable } from './turn/stream.ts'

/**
 * Measures turns of the built-in agent on the real host: streaming, opening a long chat, and 1,000 sessions that are
 * not loaded.
 */
export async function turnBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = {
    stream: streamTable,
    open: openTable,
    sleep: sleepTable,
  }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}
