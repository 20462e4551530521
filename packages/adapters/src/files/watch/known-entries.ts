import type { WatchRequest } from '@atrium/host/ports/files'
import type { Changes } from './change-window.ts'
import { Folder } from './watched-directory.ts'

/** What was found in a directory: names, and whether each is a directory. */
export interface Found {
  readonly entries: ReadonlyMap<string, boolean>
  /** Whether these are all, or only those of which something was heard. */
  readonly whole: boolean
  readonly heard: ReadonlyMap<string, boolean>
}

/** What is known of a tree. Whatever it learns, it says what has changed by that. */
export class Known {
  readonly root = new Folder(undefined, '', false)
  readonly #wish: WatchRequest
  readonly #left: (folder: Folder) => void
  #names = 0

  /** `left` is called with each directory that is no longer there. */
  constructor(wish: WatchRequest, left: (folder: Folder) => void) {
    this.#wish = wish
    this.#left = left
  }

  get names(): number {
    return this.#names
  }

  /** Takes in what was found; gives the directories that are to be read because of it. */
  learn(folder: Folder, { entries, whole, heard }: Found, changes?: Changes): readonly Folder[] {
    for (const name of whole ? [...folder.files, ...folder.folders.keys()] : heard.keys())
      if (entries.get(name) !== folder.folders.has(name)) this.#remove(folder, name, changes)
    const unread: Folder[] = []
    for (const [name, isFolder] of entries) {
      const child = folder.folders.get(name)
      if (child) {
        // It could not be listened to when it was last looked at. Perhaps now.
        if (heard.has(name) && !child.ear) unread.push(child)
      } else if (!folder.files.has(name)) this.#add(folder, name, isFolder, unread, changes)
      else if (heard.has(name)) changes?.add(folder.pathOf(name), 'updated')
    }
    return unread
  }

  /** Nothing that was in there is known any more. */
  clear(folder: Folder, changes?: Changes): void {
    for (const name of [...folder.files, ...folder.folders.keys()]) this.#remove(folder, name, changes)
  }

  *folders(folder = this.root): Iterable<Folder> {
    yield folder
    for (const child of folder.folders.values()) yield* this.folders(child)
  }

  #add(folder: Folder, name: string, isFolder: boolean, unread: Folder[], changes?: Changes): void {
    const path = folder.pathOf(name)
    this.#names++
    changes?.add(path, 'added')
    if (!isFolder) return void folder.files.add(name)
    const child = new Folder(folder, name, !this.#wish.recursive || this.#wish.skips(path))
    folder.folders.set(name, child)
    if (!child.skipped) unread.push(child)
  }

  #remove(folder: Folder, name: string, changes?: Changes): void {
    const child = folder.folders.get(name)
    if (!child && !folder.files.has(name)) return
    changes?.add(folder.pathOf(name), 'deleted')
    this.#names--
    folder.files.delete(name)
    if (!child) return
    this.clear(child, changes)
    folder.folders.delete(name)
    child.gone = true
    this.#left(child)
  }
}
