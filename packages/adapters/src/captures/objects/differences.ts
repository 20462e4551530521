import { deflateSync, inflateSync } from 'node:zlib'
import { sameEntry } from './tree-edit.ts'
import type { TreeEntry } from './tree-edit.ts'

/** The entries of one path in two captures. An absent entry means that the path has no file there. */
export interface Difference {
  readonly before?: TreeEntry
  readonly after?: TreeEntry
}

/** The differences of two captures by path. */
export type Differences = ReadonlyMap<string, Difference>

/** The entries of some paths in a tree. Undefined: the path has no file. */
export type Entries = ReadonlyMap<string, TreeEntry | undefined>

/**
 * Returns the differences between entries. If a path is missing on one side, its entry in `common` is used for this
 * side.
 */
export function differencesOf(before: Entries, after: Entries, common: Entries): Differences {
  const all = new Map<string, Difference>()
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const from = before.has(path) ? before.get(path) : common.get(path)
    const to = after.has(path) ? after.get(path) : common.get(path)
    if (!sameEntry(from, to)) all.set(path, { ...(from && { before: from }), ...(to && { after: to }) })
  }
  return all
}

/** Returns the entries of all paths on one side of the differences. */
export function entriesOn(side: keyof Difference, differences: Differences): Entries {
  return new Map([...differences].map(([path, each]) => [path, each[side]]))
}

/** Returns the differences as text without spaces. */
export function packDifferences(differences: Differences): string {
  const rows = [...differences].map(([path, { before, after }]) => [path, ...row(before), ...row(after)])
  return deflateSync(JSON.stringify(rows)).toString('base64')
}

export function unpackDifferences(packed: string): Differences {
  // The text was written by `packDifferences`, and has a checksum.
  const rows = JSON.parse(inflateSync(Buffer.from(packed, 'base64')).toString('utf8')) as [
    string,
    string,
    string,
    string,
    string,
  ][]
  return new Map(
    rows.map(([path, oldMode, oldHash, mode, hash]) => [
      path,
      {
        ...(oldMode !== '' && { before: { mode: oldMode, hash: oldHash } }),
        ...(mode !== '' && { after: { mode, hash } }),
      },
    ]),
  )
}

function row(entry: TreeEntry | undefined): readonly string[] {
  return entry ? [entry.mode, entry.hash] : ['', '']
}
