import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Seeds that found a planted bug before: tried first, so that finding all of them again takes a minute and not ten. */
export type Remembered = { readonly [bug: string]: number }

const path = fileURLToPath(new URL('../../seeds.json', import.meta.url))

export function remembered(table: string): Remembered {
  return all()[table] ?? {}
}

/** Written for all of a table at once, sorted, so that a change of it can be read. */
export function remember(table: string, seeds: Remembered): void {
  const sorted = Object.fromEntries(Object.entries(seeds).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(path, `${JSON.stringify({ ...all(), [table]: sorted }, null, 2)}\n`)
}

function all(): { readonly [table: string]: Remembered } {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { readonly [table: string]: Remembered }
  } catch {
    // Without it everything is looked for from the first seed on.
    return {}
  }
}
