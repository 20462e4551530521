import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../process/sync-folder.ts'
import { existing, writePack } from './pack.ts'
import type { CaptureStore } from './store.ts'

/** Keeps the objects that these captures need, in one pack, and deletes the others. */
export async function keepOnly(store: CaptureStore, kept: readonly string[]): Promise<void> {
  const state = store.readState()
  // The last capture is kept too, because the next capture builds on it.
  const trees = new Set([...kept, ...(state ? [state.tree, state.base] : [])])
  const whole = new Set(await existing(store, [...trees]))
  const links = await store.chain.kept(trees, (tree) => whole.has(tree))
  const roots = await existing(store, links.roots)
  const own = new Set(await store.own.names(kept[0]?.length === 64 ? 32 : 20))
  const needed = [...new Set([...(await reachable(store, roots)), ...links.contents])].filter((hash) =>
    own.has(hash),
  )
  const objects = [...needed, ...(await sharedBy(store, needed))]
  if (objects.length === own.size) await store.chain.replace(links)
  else await replacePacks(store, objects, () => store.chain.replace(links))
}

/**
 * Returns the larger contents, made by `together` of several small ones, that are worth keeping: those of which more
 * than half of the bytes are needed.
 */
async function sharedBy(store: CaptureStore, needed: readonly string[]): Promise<readonly string[]> {
  const inNeeded = new Set(needed)
  const used = new Map<string, number>()
  for (const [, size, base = ''] of await facts(store, needed, '%(objectname) %(objectsize) %(deltabase)'))
    if (!/^0*$/.test(base) && !inNeeded.has(base)) used.set(base, (used.get(base) ?? 0) + Number(size))
  const sizes = await facts(store, [...used.keys()], '%(objectname) %(objectsize)')
  return sizes.flatMap(([hash = '', size]) => ((used.get(hash) ?? 0) * 2 > Number(size) ? [hash] : []))
}

/** Asks git about objects. Returns the fields of `format` for each object. */
async function facts(
  store: CaptureStore,
  hashes: readonly string[],
  format: string,
): Promise<readonly (readonly string[])[]> {
  if (hashes.length === 0) return []
  const input = `${hashes.join('\n')}\n`
  const output = await store.run(['cat-file', `--batch-check=${format}`], { view: 'own', input })
  return output
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
}

/** Puts all objects into one pack if there are many packs: git opens every one of them for every command. */
export async function mergePacks(store: CaptureStore, hashLength: number): Promise<void> {
  if ((await store.own.packs()).length <= mostPacks) return
  await replacePacks(store, [...new Set(await store.own.names(hashLength))])
}

/** Replaces all packs by one with these objects. The old packs are deleted when the new one is on the disk. */
async function replacePacks(
  store: CaptureStore,
  objects: readonly string[],
  whenWritten: () => Promise<void> = async () => {},
): Promise<void> {
  const folder = join(store.objects, 'pack')
  const old = new Set(await store.own.packs())
  // If an old pack has exactly these objects, the new pack has the same name. Then this pack must not be deleted.
  if (objects.length > 0) old.delete(await writePack(store, objects))
  await whenWritten()
  for (const file of await readdir(folder))
    if (old.has(file.replace(/\.[a-z]+$/, ''))) await rm(join(folder, file), { force: true })
  await syncFolder(folder)
}

const mostPacks = 64

/** Returns the trees and contents that trees refer to. Missing objects, which are not of this store, are left out. */
async function reachable(store: CaptureStore, trees: readonly string[]): Promise<readonly string[]> {
  if (trees.length === 0) return []
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=allow-any', '--stdin']
  const output = await store.run(args, { view: 'all', input: `${trees.join('\n')}\n` })
  return output.toString('latin1').split('\n').filter(Boolean)
}
