import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../process/sync-folder.ts'
import { writePack } from './pack.ts'
import type { CaptureStore } from './store.ts'

/** Keeps the objects that these trees need, in one pack, and deletes the others. */
export async function keepOnly(store: CaptureStore, trees: readonly string[]): Promise<void> {
  const folder = join(store.objects, 'pack')
  const packs = await store.own.packs()
  const isKnown = await store.own.known(trees[0]?.length === 64 ? 32 : 20)
  const needed = (await reachable(store, trees)).filter((hash) => isKnown(hash))
  const before = new Set(packs)
  if (needed.length > 0) await writePack(store, needed)
  const made = (await store.own.packs()).filter((name) => !before.has(name))
  // The same objects make a pack of the same name.
  if (needed.length > 0 && made.length === 0 && packs.length === 1) return
  for (const file of await readdir(folder)) {
    const name = file.replace(/\.[a-z]+$/, '')
    if (before.has(name) && (made.length > 0 || needed.length === 0))
      await rm(join(folder, file), { force: true })
  }
  await syncFolder(folder)
}

/** The trees and contents that trees have. Those that are missing, and are not ours, are left out. */
async function reachable(store: CaptureStore, trees: readonly string[]): Promise<readonly string[]> {
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=allow-any', '--stdin']
  const output = await store.run(args, { view: 'all', input: `${trees.join('\n')}\n` })
  return output.toString('latin1').split('\n').filter(Boolean)
}
