import { MemoryCaptures, MemoryFolders } from '@atrium/adapters/captures/memory'
import type { MemoryFile } from '@atrium/adapters/captures/memory'
import type { Captures } from '@atrium/host/ports/captures'
import { count } from '../tally.ts'

/** The folder in which all sessions of the theme `changes` work. */
export const directory = '/a'

/** The texts of all files of the folder, by path. */
export type Texts = ReadonlyMap<string, string>

/** What the judge of operations learns of the host's work in the folder. */
export interface FolderObserver {
  /** The host begins to change files, for the operation that it carries out now. */
  applying(): void
  /** The host is about to change a file. `text`: its present content, if there is such a file. */
  writes(path: string, text: string | undefined): void
  /** The host has changed all files that it wanted to change, perhaps after a crash. */
  applied(): void
}

/**
 * The simulated folder. It outlives the host runs, as a disk does. Each part of the host's work in it waits until the plan lets
 * it go on, so that others can change files in between, and the host can die there.
 */
export class SimulatedFolder {
  readonly #disk = new MemoryFolders()
  readonly #files: WatchedFiles
  readonly #observer: FolderObserver
  /** The texts of each capture of files, by its id. The judge has its own copy of what the captures must contain. */
  readonly #taken = new Map<string, Texts>()
  #pauses: (() => void)[] = []

  constructor(observer: FolderObserver) {
    this.#observer = observer
    this.#files = new WatchedFiles((path, file) => observer.writes(path, file && textOf(file)))
    this.#disk.folders.set(directory, this.#files)
    for (const path of paths.slice(0, 3)) this.write(path, '')
  }

  /** How many parts of the host's work wait. */
  get waiting(): number {
    return this.#pauses.length
  }

  /** Takes one of the waiting parts. The caller runs it. */
  next(at = 0): () => void {
    const [part] = this.#pauses.splice(at % Math.max(1, this.#pauses.length), 1)
    return part ?? (() => {})
  }

  get texts(): Texts {
    return new Map([...this.#files].map(([path, file]) => [path, textOf(file)]))
  }

  /** Writes or deletes a file, as somebody who is not the host does. */
  write(path: string, text: string | undefined): void {
    this.#files.change(
      path,
      text === undefined ? undefined : { bytes: new TextEncoder().encode(text), mode: '100644' },
    )
  }

  /** What a capture must contain. Undefined if no such capture was taken. */
  captured(id: string): Texts | undefined {
    return this.#taken.get(id)
  }

  /** Whether a capture is still stored. */
  has(id: string): boolean {
    try {
      return this.#disk.capture(id) !== undefined
    } catch {
      return false
    }
  }

  /** The content of a stored file, by the name that changesets use for it. */
  content(name: string): string | undefined {
    const bytes = this.#disk.contents.get(name)
    return bytes && new TextDecoder().decode(bytes)
  }

  /** The host has died. What it did in the folder stops where it is. */
  crashed(): void {
    if (this.#disk.journal?.isBegun) count('crashes during an undo or redo')
    this.#pauses = []
  }

  /** The captures of one host run. */
  open(isAlive: () => boolean): Captures {
    const never = new Promise<never>(() => {})
    const pause = () =>
      new Promise<void>((resolve) => {
        if (isAlive()) this.#pauses.push(resolve)
      })
    const inner = new MemoryCaptures(this.#disk, pause)
    const guarded = async <T>(work: () => Promise<T>): Promise<T> => (isAlive() ? work() : never)
    const applying = async <T>(work: () => Promise<T>): Promise<T> => {
      this.#observer.applying()
      const result = await work()
      this.#observer.applied()
      return result
    }
    return {
      take: (...given) =>
        guarded(async () => {
          const taken = await inner.take(...given)
          if (given[1].of === 'files') this.#taken.set(taken.id, this.texts)
          return taken
        }),
      compare: (...given) => guarded(() => inner.compare(...given)),
      read: (content) => guarded(() => inner.read(content)),
      apply: (...given) => guarded(() => applying(() => inner.apply(...given))),
      applyAll: (groups) => guarded(() => applying(() => inner.applyAll(groups))),
      recover: () =>
        guarded(async () => {
          const applied = await inner.recover()
          this.#observer.applied()
          return applied
        }),
      collect: (kept) => guarded(() => inner.collect(kept)),
    }
  }
}

/** Files that tell when the host changes one. */
class WatchedFiles extends Map<string, MemoryFile> {
  readonly #onWrite: (path: string, before: MemoryFile | undefined) => void

  constructor(onWrite: (path: string, before: MemoryFile | undefined) => void) {
    super()
    this.#onWrite = onWrite
  }

  override set(path: string, file: MemoryFile): this {
    this.#onWrite(path, this.get(path))
    return super.set(path, file)
  }

  override delete(path: string): boolean {
    this.#onWrite(path, this.get(path))
    return super.delete(path)
  }

  /** Changes a file without telling anybody. */
  change(path: string, file: MemoryFile | undefined): void {
    if (file) super.set(path, file)
    else super.delete(path)
  }
}

function textOf({ bytes }: MemoryFile): string {
  return new TextDecoder().decode(bytes)
}

export const paths = ['one', 'two', 'three', 'deep/four', 'deep/five'] as const
