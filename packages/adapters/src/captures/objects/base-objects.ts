import { foldersOf } from './tree-edit.ts'
import type { FolderResult } from './tree-edit.ts'

/**
 * The trees and blobs of a capture store's index, by their paths. Trees are kept in memory: the next capture of the
 * same files then asks git for nothing.
 */
export class BaseObjects {
  #tree = ''
  readonly #trees = new Map<string, Buffer | undefined>()
  readonly #blobs = new Map<string, Buffer | undefined>()
  /** The paths whose contents in the tree of the index are in a pack of the store. */
  readonly #stored = new Set<string>()
  #results: ReadonlyMap<string, FolderResult> = new Map()

  /** Reads the folders of these paths, and the contents of these paths that are not stored yet. */
  async read(
    tree: string,
    paths: readonly string[],
    ask: (input: string) => Promise<Buffer>,
  ): Promise<BaseContent> {
    if (tree !== this.#tree || this.#trees.size > mostTrees) {
      this.#trees.clear()
      this.#blobs.clear()
      this.#stored.clear()
      this.#results = new Map()
      this.#tree = tree
    }
    const folders = [...foldersOf(paths)].filter((folder) => !this.#trees.has(folder))
    const wanted = paths.filter((path) => !this.#stored.has(path) && !this.#blobs.has(path))
    const names = [...folders, ...wanted]
    if (names.length === 0) return { trees: this.#trees, blobs: this.#blobs }
    const found = objectsIn(await ask(names.map((path) => `${tree}:${path}\n`).join('')), names.length)
    for (const [i, folder] of folders.entries())
      this.#trees.set(folder, found[i]?.type === 'tree' ? found[i].data : undefined)
    for (const [i, path] of wanted.entries()) {
      const object = found[folders.length + i]
      this.#blobs.set(path, object?.type === 'blob' ? object.data : undefined)
    }
    return { trees: this.#trees, blobs: this.#blobs }
  }

  /** Returns the result of the last stored edits in a folder. */
  known(folder: string): FolderResult | undefined {
    return this.#results.get(folder)
  }

  /** Records that the contents of these paths are stored. `results`: the tree objects of the edited folders. */
  stored(paths: Iterable<string>, results: ReadonlyMap<string, FolderResult>): void {
    for (const path of paths) this.#stored.add(path)
    this.#blobs.clear()
    // Earlier results are kept: if the same edits of a folder were made before, `results` has no entries for its
    // subfolders.
    this.#results = new Map([...this.#results, ...results])
  }
}

export interface BaseContent {
  readonly trees: ReadonlyMap<string, Buffer | undefined>
  readonly blobs: ReadonlyMap<string, Buffer | undefined>
}

/** Splits the output of `git cat-file --batch`: a line with name, type and size, then the data. */
export function objectsIn(
  output: Buffer,
  count: number,
): readonly ({ readonly type: string; readonly data: Buffer } | undefined)[] {
  let at = 0
  return Array.from({ length: count }, () => {
    const end = output.indexOf(10, at)
    const [, type, size] = /^[\da-f]+ (\w+) (\d+)$/.exec(output.toString('latin1', at, end)) ?? []
    at = end + 1
    if (type === undefined) return undefined
    const data = output.subarray(at, at + Number(size))
    at += Number(size) + 1
    return { type, data }
  })
}

const mostTrees = 2000
