import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { objectsIn } from './objects/base-objects.ts'
import { entriesOn } from './objects/differences.ts'
import type { Differences, Entries } from './objects/differences.ts'
import { writeBriefPack } from './objects/pack-file.ts'
import { MissingTree, editTree, foldersOf } from './objects/tree-edit.ts'
import type { TreeEdit } from './objects/tree-edit.ts'
import type { CaptureStore } from './store.ts'

/**
 * Runs a task with a temporary folder for git objects. The folder is empty at first, and is deleted at the end of the
 * task.
 */
export async function withScratch<T>(store: CaptureStore, task: (into: string) => Promise<T>): Promise<T> {
  const into = join(store.folder, 'incoming-compare')
  const clear = () => rmSync(into, { recursive: true, force: true })
  clear()
  try {
    return await task(into)
  } finally {
    clear()
  }
}

/**
 * Writes all trees of a capture that is stored by its differences, and returns their hashes. Does nothing for other captures, and if
 * the trees at the beginning of the chain are gone.
 */
export async function writeWhole(
  store: CaptureStore,
  tree: string,
  into: string,
): Promise<readonly string[]> {
  const { exitCode } = await store.tryRun(['cat-file', '-e', tree], { view: 'all' })
  const root = await store.chain.root(tree)
  const differences = exitCode === 0 || root === tree ? undefined : await store.chain.between(root, tree)
  if (!differences) return []
  const folders = [...foldersOf(differences.keys())]
  const input = folders.map((folder) => `${root}:${folder}\n`).join('')
  const found = objectsIn(
    await store.run(['cat-file', '--batch', '--buffer'], { view: 'all', input }),
    folders.length,
  )
  const read = new Map(
    folders.map((folder, i) => [folder, found[i]?.type === 'tree' ? found[i].data : undefined]),
  )
  try {
    const whole = edited(entriesOn('after', differences), tree, (folder) => read.get(folder))
    writeTrees(into, whole, tree)
    return whole.trees.map(({ hash }) => hash)
  } catch (error) {
    if (error instanceof MissingTree) return []
    throw error
  }
}

/**
 * Writes two trees that have only the paths of these differences, and returns their hashes. Git finds the same
 * changes between them as between the whole trees. `like` is any hash of the repository, which tells the hash
 * algorithm.
 */
export function writeSides(
  differences: Differences,
  like: string,
  into: string,
): readonly [before: string, after: string] {
  const nothing = (folder: string) => (folder === '' ? Buffer.alloc(0) : undefined)
  const sides = (['before', 'after'] as const).map((side) => {
    const entries = [...entriesOn(side, differences)].filter(([, entry]) => entry !== undefined)
    return edited(new Map(entries), like, nothing)
  })
  const [before, after] = sides
  writeTrees(into, { trees: sides.flatMap(({ trees }) => trees) }, like)
  return [before?.hash ?? '', after?.hash ?? '']
}

function edited(edits: Entries, like: string, read: (folder: string) => Buffer | undefined): TreeEdit {
  return editTree(edits, formatOf(like), { read, known: () => undefined })
}

function writeTrees(into: string, { trees }: Pick<TreeEdit, 'trees'>, like: string): void {
  const different = new Map(trees.map((tree) => [tree.hash, tree]))
  const packs = join(into, 'pack')
  mkdirSync(packs, { recursive: true })
  if (different.size > 0) writeBriefPack(packs, formatOf(like), [...different.values()])
}

/** Returns the hash algorithm of a hash. */
function formatOf(hash: string): 'sha1' | 'sha256' {
  return hash.length === 64 ? 'sha256' : 'sha1'
}
