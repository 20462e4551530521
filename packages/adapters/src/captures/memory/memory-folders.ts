import { CaptureFailed } from '@atrium/host/ports/captures'
import type { CaptureOptions, CapturedFile } from '@atrium/host/ports/captures'

export interface MemoryFile {
  readonly bytes: Uint8Array
  readonly mode: CapturedFile['mode']
}

/** The files of a capture by path, in the order of paths. */
type Tree = ReadonlyMap<string, CapturedFile>

/** One edit that the journal has decided on. */
export interface JournalStep {
  readonly directory: string
  readonly path: string
  readonly expected?: CapturedFile
  readonly wanted?: MemoryFile
}

/** What a disk would have: folders with files, stored captures, and the journal of edits that are being made. */
export class MemoryFolders {
  readonly folders = new Map<string, Map<string, MemoryFile>>()
  /** The files of the commit that is checked out in a folder. */
  readonly heads = new Map<string, ReadonlyMap<string, MemoryFile>>()
  /** The files of the commit at which the branch of a folder began. */
  readonly branches = new Map<string, ReadonlyMap<string, MemoryFile>>()
  /** Names that are ignored in every folder. */
  readonly ignored = new Set<string>()
  /** The contents of all captures, by name. */
  readonly contents = new Map<string, Uint8Array>()
  /** `isBegun`: a file was changed, so that the rest must follow, even after a crash. */
  journal: { readonly steps: readonly JournalStep[]; isBegun: boolean } | undefined
  /** How many captures were taken. */
  taken = 0
  readonly #captures = new Map<string, StoredCapture>()

  filesIn(directory: string): Map<string, MemoryFile> {
    const folder = this.folders.get(directory)
    if (!folder) throw new CaptureFailed(`There is no folder ${directory}.`)
    return folder
  }

  /** The files that a capture has. */
  filesOf(directory: string, of: CaptureOptions['of']): readonly (readonly [string, MemoryFile])[] {
    const folder = this.filesIn(directory)
    if (of !== 'files') return [...((of === 'head' ? this.heads : this.branches).get(directory) ?? [])]
    return [...folder].filter(([path]) => !path.split('/').some((name) => this.ignored.has(name)))
  }

  /** Stores a capture. Returns its id, which is the same for the same files. */
  keep(directory: string, tree: Tree): string {
    const sorted = new Map([...tree].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const id = contentName(new TextEncoder().encode(JSON.stringify([directory, ...sorted])))
    this.#captures.set(id, { directory, tree: sorted, order: ++this.taken })
    return id
  }

  capture(id: string): StoredCapture {
    const found = this.#captures.get(id)
    if (!found) throw new CaptureFailed('There is no such capture.')
    return found
  }

  /** Deletes the captures that are not kept and were taken before `called`, and the contents that only they had. */
  collect(kept: ReadonlySet<string>, called: number): void {
    for (const [id, { order }] of this.#captures)
      if (!kept.has(id) && order <= called) this.#captures.delete(id)
    const needed = new Set(
      [...this.#captures.values()].flatMap(({ tree }) => [...tree.values()].map(({ content }) => content)),
    )
    for (const content of this.contents.keys()) if (!needed.has(content)) this.contents.delete(content)
  }
}

interface StoredCapture {
  readonly directory: string
  readonly tree: Tree
  /** The place of the capture in the order in which captures were taken. */
  readonly order: number
}

/** The name of a content: two hashes of it, which differ for the different contents of a test. */
export function contentName(bytes: Uint8Array): string {
  let [a, b] = [0x811c9dc5, bytes.length]
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193) >>> 0
    b = (Math.imul(b, 31) + byte + (a >>> 7)) >>> 0
  }
  return `${a.toString(16).padStart(8, '0')}${b.toString(16).padStart(8, '0')}`
}
