import type { WatchRequest } from '@atrium/host/ports/files'
import type { Changes } from './change-window.ts'
import type { Folder } from './watched-directory.ts'
import { Known } from './known-entries.ts'
import { isPoverty, isShut } from './notify-backend.ts'
import type { Entered } from './notify-backend.ts'
import { Poll } from './poll.ts'
import type { Terms, Watched } from './options.ts'

/**
 * A directory and those below it. Each is watched first and read then, so that whatever comes is either heard or seen:
 * a directory that was filled before anybody could watch it is no special case. What is heard only says where to look;
 * what is told is the difference between what was known and what is there.
 */
export class Tree implements Watched {
  readonly #path: string
  readonly #terms: Terms
  readonly #heard: () => void
  readonly #known: Known
  readonly #poll: Poll
  readonly #leave: () => void
  #touched = new Set<Folder>()
  #queue: Folder[] = []
  #noted = 0
  #ears = 0
  /** What was heard does not say all: said once what it is about has been read. */
  #lost = false
  /** Not everything can be listened to, since the last look. */
  #poorer = false
  #gone = false

  /** Nothing where there is no directory. Without changes, what is found was known before. */
  static async open(
    path: string,
    wish: WatchRequest,
    terms: Terms,
    heard: () => void,
    changes?: Changes,
  ): Promise<Tree | undefined> {
    const tree = new Tree(path, wish, terms, heard)
    await tree.#readAll([tree.#known.root], changes)
    if (tree.#gone) {
      tree.end()
      return undefined
    }
    // That not everything can be watched is told as soon as there is somebody to tell.
    if (tree.#poorer) heard()
    return tree
  }

  private constructor(path: string, wish: WatchRequest, terms: Terms, heard: () => void) {
    this.#path = path
    this.#terms = terms
    this.#heard = heard
    this.#known = new Known(wish, (folder) => this.#let(folder))
    this.#poll = new Poll(terms.pace.beatMs)
    this.#leave = terms.means.queue.join(() => this.#overflowed())
  }

  async settle(changes: Changes): Promise<boolean> {
    const [touched, lost] = [this.#touched, this.#lost]
    this.#touched = new Set()
    this.#lost = false
    this.#noted = 0
    if (!(await this.#isThere())) return false
    const polled = this.#poll.due()
    for (const folder of polled) {
      folder.unread = true
      touched.add(folder)
    }
    await this.#readAll([...touched], changes)
    if (polled.length > 0) this.#poll.done()
    // Said when all has been read: whoever then looks at everything again misses nothing, for what comes later is heard.
    if (lost || this.#poorer) changes.lose()
    this.#poorer = false
    return !this.#gone
  }

  end(): void {
    this.#leave()
    this.#known.clear(this.#known.root)
    this.#let(this.#known.root)
  }

  #hear(folder: Folder, type: string, name: string | null): void {
    this.#terms.means.queue.count()
    if (name === null) return this.#overflowed()
    if (name === '.') folder.stale = true
    else if (this.#terms.means.each) this.#note(folder, name, type === 'rename')
    else return this.#hearBelow(name.replaceAll('\\', '/').split('/'), type === 'rename')
    this.#touch(folder)
  }

  /** Where one watch covers all: what was heard is noted in the directory that it is about, as far as that is known. */
  #hearBelow(names: readonly string[], more: boolean): void {
    let folder = this.#known.root
    for (const [i, name] of names.entries()) {
      const next = i < names.length - 1 ? folder.folders.get(name) : undefined
      if (next) folder = next
      else {
        this.#note(folder, name, more)
        return this.#touch(folder)
      }
    }
  }

  #note(folder: Folder, name: string, more: boolean): void {
    const before = folder.heard?.get(name)
    if (before === undefined && this.#noted++ >= this.#terms.limits.watchChanges) {
      this.#lost = true
      folder.heard = undefined
      folder.unread = true
    } else (folder.heard ??= new Map()).set(name, more || before === true)
  }

  #touch(folder: Folder): void {
    this.#touched.add(folder)
    this.#heard()
  }

  /** Nothing that was heard can be relied on, nor that anything is still watched where it was. */
  #overflowed(): void {
    this.#lost = true
    for (const folder of this.#known.folders()) {
      folder.stale = true
      this.#touched.add(folder)
    }
    this.#heard()
  }

  async #isThere(): Promise<boolean> {
    const entered = await this.#terms.means.enter(this.#path).catch((error: unknown) => error)
    if (!isEntered(entered)) return isPoverty(entered) || isShut(entered)
    await entered.leave()
    return entered.ino === this.#known.root.ino || this.#known.root.ino === 0
  }

  async #readAll(folders: readonly Folder[], changes?: Changes): Promise<void> {
    this.#queue = [...folders]
    const lane = async (): Promise<void> => {
      for (let folder; (folder = this.#queue.pop());) await this.#read(folder, changes)
    }
    while (this.#queue.length > 0)
      await Promise.all(Array.from({ length: Math.min(lanes, this.#queue.length) }, lane))
  }

  async #read(folder: Folder, changes?: Changes): Promise<void> {
    if (folder.gone || folder.skipped) return
    const { heard = new Map<string, boolean>(), unread, stale } = folder
    folder.heard = undefined
    folder.unread = folder.stale = false
    if (!unread && !stale && [...heard].every(([name, more]) => !more && folder.files.has(name))) {
      for (const name of heard.keys()) changes?.add(folder.pathOf(name), 'updated')
      return
    }
    const entered = await this.#enter(folder, changes)
    if (!entered) return
    try {
      const other = entered.ino !== folder.ino
      if (other) this.#known.clear(folder, changes)
      folder.ino = entered.ino
      if (other || stale || !folder.ear) this.#listen(folder, entered)
      const whole = unread || stale || other || heard.size > few || [...heard.keys()].some(isOdd)
      const room = this.#terms.limits.watchNames - this.#known.names + folder.names
      const entries = whole ? await entered.list(room) : await entered.look(heard.keys())
      if (folder.gone) return
      if (!entries) return this.#poor(folder)
      this.#queue.push(...this.#known.learn(folder, { entries, whole, heard }, changes))
      if (this.#poll.has(folder)) await this.#poll.compare(folder, entered, changes)
    } catch (error) {
      this.#failed(folder, error, changes)
    } finally {
      await entered.leave()
    }
  }

  async #enter(folder: Folder, changes?: Changes): Promise<Entered | undefined> {
    const { path } = folder
    try {
      const entered = await this.#terms.means.enter(path === '' ? this.#path : `${this.#path}/${path}`)
      if (!folder.gone) return entered
      await entered.leave()
    } catch (error) {
      if (!folder.gone) this.#failed(folder, error, changes)
    }
    return undefined
  }

  /** It may come back: then the one above hears of it. */
  #failed(folder: Folder, error: unknown, changes?: Changes): void {
    if (isPoverty(error)) return this.#poor(folder)
    this.#let(folder)
    folder.unread = true
    if (isShut(error)) return this.#known.clear(folder, changes)
    if (!folder.parent) this.#gone = true
    else {
      this.#note(folder.parent, folder.name, true)
      this.#touch(folder.parent)
    }
  }

  #listen(folder: Folder, { at }: Entered): void {
    const { means, limits } = this.#terms
    if (!means.each && folder.parent) return
    const before = folder.ear
    // One that there is still ends after the new one has begun, or what happens in between would not be heard.
    folder.ear = undefined
    try {
      if (!before && this.#ears >= limits.watchDirectories) this.#poor(folder)
      else {
        folder.ear = means.watch(at, (type, name) => this.#hear(folder, type, name))
        this.#ears++
        if (means.sure) this.#poll.delete(folder)
        else this.#poor(folder)
      }
    } catch (error) {
      if (isPoverty(error)) this.#poor(folder)
    }
    if (before) this.#ears--
    before?.close()
  }

  #poor(folder: Folder): void {
    if (this.#poll.add(folder)) this.#poorer = true
  }

  /** Lets go of a directory that is not there, or not to be read. */
  #let(folder: Folder): void {
    if (folder.ear) this.#ears--
    folder.ear?.close()
    folder.ear = undefined
    this.#poll.delete(folder)
  }
}

/** So many directories are read at once, which is more than the system does at once. */
const lanes = 8

/** So many names are looked at one by one; for more the whole directory is read. */
const few = 16

/** A name that is no text cannot be asked for, and is found only by reading all. */
const isOdd = (name: string): boolean => name.includes('\ufffd')

const isEntered = (it: unknown): it is Entered => typeof it === 'object' && it !== null && 'leave' in it
