import type { TreeEntry } from './tree-edit.ts'

/** The files that captures have read, so that a file with the same size and times is not read again. */
export class ReadFiles {
  #files = new Map<string, { readonly seen: string; readonly entry: TreeEntry }>()

  /** Returns the entry of a file from its last read, if the file has not changed since. */
  same(path: string, seen: ReadonlyMap<string, string>): TreeEntry | undefined {
    const known = this.#files.get(path)
    return known && known.seen === seen.get(path) ? known.entry : undefined
  }

  /**
   * Replaces the remembered files by those that the last capture has seen. The paths in `edits` are relative to the
   * captured folder, the paths in `seen` to the working tree.
   */
  remember(
    seen: ReadonlyMap<string, string>,
    edits: ReadonlyMap<string, TreeEntry | undefined>,
    prefix: string,
  ): void {
    this.#files = new Map()
    for (const [path, text] of seen) {
      const entry = edits.get(path.slice(prefix.length))
      if (entry) this.#files.set(path, { seen: text, entry })
    }
  }
}
