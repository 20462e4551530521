import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Seeds that found a planted bug before. They are tried first, so that finding all bugs again takes one minute instead of ten. */
export type KnownSeeds = { readonly [bug: string]: number }

const path = fileURLToPath(new URL('../../seeds.json', import.meta.url))

export function knownSeeds(table: string): KnownSeeds {
  return all()[table] ?? {}
}

/** Writes a whole table, sorted, so that its diffs are readable. */
export function saveSeeds(table: string, seeds: KnownSeeds): void {
  const sorted = Object.fromEntries(Object.entries(seeds).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(path, `${JSON.stringify({ ...all(), [table]: sorted }, null, 2)}\n`)
}

function all(): { readonly [table: string]: KnownSeeds } {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { readonly [table: string]: KnownSeeds }
  } catch {
    // Without the file, every search starts at the first seed.
    return {}
  }
}
