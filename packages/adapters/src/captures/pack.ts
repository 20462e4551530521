import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../process/sync-folder.ts'
import type { Difference, Differences } from './objects/differences.ts'
import type { TreeEntry } from './objects/tree-edit.ts'
import type { Place } from './place.ts'
import type { CaptureStore } from './store.ts'
import { writeWhole } from './whole.ts'

export interface Packing {
  readonly place: Place
  /** The folder with the objects that git has just written. */
  readonly incoming: string
  /** The tree of the last capture; undefined for the first one. */
  readonly before: string | undefined
  readonly after: string
  readonly signal: AbortSignal
}

/**
 * Stores the trees and contents in which two captures differ: those of the earlier capture and those of the later one, because
 * the user's repository may delete either. Objects that are in both captures are not stored, but only named by their hashes.
 * The pack is on the disk when the promise resolves. Returns the number of stored bytes.
 */
export async function packObjects(store: CaptureStore, packing: Packing): Promise<number> {
  const { place, incoming, before, after, signal } = packing
  const found = before === undefined ? undefined : await differing(store, packing, [before, after])
  // The last tree may be gone: then this capture is stored like a first one.
  const wanted = found?.hashes ?? (await looseIn(incoming))
  const isKnown = await store.own.known(place.hashLength)
  const fresh = [...new Set(wanted)].filter((hash) => !isKnown(hash))
  const bytes = await store.own.bytes()
  if (fresh.length > 0) await writePack(store, fresh, { incoming, signal })
  const more = before === undefined || !found ? 0 : await store.chain.add(after, before, found.differences)
  return (await store.own.bytes()) - bytes + more
}

/** Writes a pack of these objects, and returns its name. */
export async function writePack(
  store: CaptureStore,
  hashes: readonly string[],
  { incoming, signal }: { readonly incoming?: string; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const options = {
    view: 'all',
    ...(signal && { signal }),
    ...(incoming !== undefined && { into: incoming }),
  } as const
  // If there are few objects, git looks for deltas among them: the two sides of a change are alike, so the time is
  // well spent. Many objects are those of a first capture, for which a turn waits. Without deltas and with less
  // compression, they are packed in half the time, and take an eighth more space.
  const command = (list: readonly string[]) => [
    'pack-objects',
    '-q',
    ...(list.length > 1000 ? ['--window=0', '--compression=1'] : ['--window=50']),
    join(store.objects, 'pack', 'pack'),
  ]
  const input = (list: readonly string[]) => `${list.join('\n')}\n`
  const first = await store.tryRun(command(hashes), { ...options, input: input(hashes) })
  let name = first.stdout
  if (first.exitCode !== 0) {
    // An object may have been deleted from the user's repository. The others are stored.
    const present = await existing(store, hashes, incoming)
    name = await store.run(command(present), { ...options, input: input(present) })
  }
  await syncFolder(join(store.objects, 'pack'))
  return `pack-${name.toString('latin1').trim()}`
}

/** Returns those of the objects that exist. */
export async function existing(
  store: CaptureStore,
  hashes: readonly string[],
  incoming?: string,
): Promise<readonly string[]> {
  if (hashes.length === 0) return []
  const output = await store.run(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    view: 'all',
    input: `${hashes.join('\n')}\n`,
    ...(incoming !== undefined && { into: incoming }),
  })
  const lines = output.toString('latin1').split('\n')
  return hashes.filter((_, i) => !lines[i]?.endsWith(' missing'))
}

/**
 * Returns the trees and contents that only one of two trees has. Returns undefined if one of the two trees is gone.
 */
async function differing(
  store: CaptureStore,
  { incoming, signal }: Packing,
  [before, after]: readonly [string, string],
): Promise<{ readonly hashes: readonly string[]; readonly differences: Differences } | undefined> {
  // The later capture may have trees of the earlier one that are only in the folder of the new objects.
  const whole = await writeWhole(store, before, incoming)
  const args = ['diff-tree', '-r', '-t', '-z', '--raw', '--no-abbrev', '--no-renames', before, after]
  const { exitCode, stdout } = await store.tryRun(args, { view: 'all', into: incoming, signal })
  if (exitCode !== 0) return undefined
  const hashes = [before, after, ...whole]
  const differences = new Map<string, Difference>()
  const fields = stdout.toString('utf8').split('\0')
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, ...sides] = /^:(\d+) (\d+) ([\da-f]+) ([\da-f]+) /.exec(fields[i] ?? '') ?? []
    const [oldMode = '', mode = '', oldHash = '', hash = ''] = sides
    if (isObject(oldMode)) hashes.push(oldHash)
    if (isObject(mode)) hashes.push(hash)
    const [a, b] = [fileOf(oldMode, oldHash), fileOf(mode, hash)]
    if (a || b) differences.set(fields[i + 1] ?? '', { ...(a && { before: a }), ...(b && { after: b }) })
  }
  return { hashes, differences }
}

/** Returns the entry, or undefined if it is missing or a folder. */
function fileOf(mode: string, hash: string): TreeEntry | undefined {
  return mode === '000000' || mode === '040000' ? undefined : { mode, hash }
}

function isObject(mode: string): boolean {
  return mode !== '' && mode !== '000000' && mode !== '160000'
}

/** Returns the names of the loose objects in a folder. */
async function looseIn(folder: string): Promise<readonly string[]> {
  const names: string[] = []
  for (const start of await readdir(folder))
    if (/^[\da-f]{2}$/.test(start))
      for (const rest of await readdir(join(folder, start))) names.push(`${start}${rest}`)
  return names
}
