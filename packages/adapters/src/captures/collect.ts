import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../process/sync-folder.ts'
import { writePack } from './pack.ts'
import type { CaptureStore } from './store.ts'

/** Keeps the objects that these trees need, in one pack, and deletes the others. */
export async function keepOnly(store: CaptureStore, kept: readonly string[]): Promise<void> {
  const state = await store.readState()
  // The next capture builds on the last one.
  const trees = [...kept, ...(state ? [state.tree, state.base] : [])]
  const own = new Set(await store.own.names(kept[0]?.length === 64 ? 32 : 20))
  const needed = (await reachable(store, trees)).filter((hash) => own.has(hash))
  await replacePacks(store, needed)
}

/** Puts all objects into one pack if there are many packs: git opens every one of them for every command. */
export async function mergePacks(store: CaptureStore, hashLength: number): Promise<void> {
  if ((await store.own.packs()).length <= mostPacks) return
  await replacePacks(store, [...new Set(await store.own.names(hashLength))])
}

/** The old packs are deleted when the new one is on the disk. */
async function replacePacks(store: CaptureStore, objects: readonly string[]): Promise<void> {
  const folder = join(store.objects, 'pack')
  const old = new Set(await store.own.packs())
  // The same objects make a pack of the same name.
  if (objects.length > 0) old.delete(await writePack(store, objects))
  for (const file of await readdir(folder))
    if (old.has(file.replace(/\.[a-z]+$/, ''))) await rm(join(folder, file), { force: true })
  await syncFolder(folder)
}

const mostPacks = 64

/** The trees and contents that trees have. Those that are missing, and are not ours, are left out. */
async function reachable(store: CaptureStore, trees: readonly string[]): Promise<readonly string[]> {
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=allow-any', '--stdin']
  const output = await store.run(args, { view: 'all', input: `${trees.join('\n')}\n` })
  return output.toString('latin1').split('\n').filter(Boolean)
}
