import { CaptureFailed } from '../../src/ports/captures.ts'
import type {
  Applied,
  Capture,
  CaptureOptions,
  CapturedChange,
  CapturedEdit,
  CapturedFile,
  Captures,
  FolderEdits,
  Omission,
} from '../../src/ports/captures.ts'
import { countLines } from './line-counts.ts'

export interface MemoryFile {
  readonly bytes: Uint8Array
  readonly mode: CapturedFile['mode']
}

type Tree = ReadonlyMap<string, CapturedFile>

/** Folders in memory, and captures of them. Tests change the folders directly. */
export class MemoryCaptures implements Captures {
  readonly folders = new Map<string, Map<string, MemoryFile>>()
  /** The files of the commit that is checked out in a folder. */
  readonly heads = new Map<string, ReadonlyMap<string, MemoryFile>>()
  /** The files of the commit at which the branch of a folder began. */
  readonly branches = new Map<string, ReadonlyMap<string, MemoryFile>>()
  /** Names that are ignored in every folder. */
  readonly ignored = new Set<string>()
  /** The sentence with which the next captures fail, if they fail. */
  failing: string | undefined
  readonly #contents = new Map<string, Uint8Array>()
  readonly #captures = new Map<string, { readonly directory: string; readonly tree: Tree; order: number }>()
  #taken = 0

  async take(directory: string, { of, budget, signal }: CaptureOptions): Promise<Capture> {
    await Promise.resolve()
    if (signal.aborted) throw new CaptureFailed('The capture was stopped.')
    if (this.failing !== undefined) throw new CaptureFailed(this.failing)
    const folder = this.folders.get(directory)
    if (!folder) throw new CaptureFailed(`There is no folder ${directory}.`)
    const commits = of === 'head' ? this.heads : this.branches
    const files = of === 'files' ? this.#visible(folder) : [...(commits.get(directory) ?? [])]
    const fresh = new Map<string, Uint8Array>()
    const omitted: Omission[] = []
    const tree = new Map<string, CapturedFile>()
    for (const [path, { bytes, mode }] of files) {
      const content = nameOf(bytes)
      const size = bytes.length
      if (size > budget.fileBytes) {
        const reason = `It is larger than ${budget.fileBytes} bytes.`
        omitted.push({ path, reason })
        tree.set(path, { content: `omitted:${content}`, mode, size, omitted: reason })
        continue
      }
      tree.set(path, { content, mode, size })
      if (!this.#contents.has(content)) fresh.set(content, bytes)
    }
    const read = [...fresh.values()].reduce((sum, { length }) => sum + length, 0)
    if (read > budget.bytes || fresh.size > budget.files)
      throw new CaptureFailed('The changed files are larger than the budget of a capture.')
    for (const [content, bytes] of fresh) this.#contents.set(content, bytes.slice())
    const sorted = new Map([...tree].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const id = nameOf(new TextEncoder().encode(JSON.stringify([directory, ...sorted])))
    this.#captures.set(id, { directory, tree: sorted, order: ++this.#taken })
    return { id, directory, bytes: read, omitted: omitted.toSorted((a, b) => (a.path < b.path ? -1 : 1)) }
  }

  async compare(before: string, after: string): Promise<readonly CapturedChange[]> {
    const [a, b] = [this.#capture(before), this.#capture(after)]
    if (a.directory !== b.directory) throw new CaptureFailed('The captures are of different folders.')
    const gone = [...a.tree].filter(([path]) => !b.tree.has(path))
    const changes: CapturedChange[] = []
    for (const [path, file] of b.tree) {
      const old = a.tree.get(path)
      if (old && old.content === file.content && old.mode === file.mode) continue
      const renamed = old ? undefined : gone.find(([, { content }]) => content === file.content)
      if (renamed) gone.splice(gone.indexOf(renamed), 1)
      const from = old ?? renamed?.[1]
      changes.push({
        path,
        ...(from && { before: from }),
        after: file,
        ...(renamed && { oldPath: renamed[0] }),
        ...this.#counts(from, file),
      })
    }
    for (const [path, file] of gone) changes.push({ path, before: file, ...this.#counts(file, undefined) })
    return changes.toSorted((x, y) => (x.path < y.path ? -1 : 1))
  }

  async read(content: string): Promise<Uint8Array> {
    const bytes = this.#contents.get(content)
    if (!bytes) throw new CaptureFailed('The content is not stored.')
    return bytes.slice()
  }

  async apply(directory: string, edits: readonly CapturedEdit[]): Promise<Applied> {
    const folder = this.folders.get(directory)
    if (!folder) throw new CaptureFailed(`There is no folder ${directory}.`)
    const left: Omission[] = []
    const done: string[] = []
    for (const { path, expected, wanted } of edits) {
      const present = folder.get(path)
      const same = present
        ? expected?.content === nameOf(present.bytes) && expected.mode === present.mode
        : !expected
      const bytes = wanted && ('bytes' in wanted ? wanted.bytes : this.#contents.get(wanted.content))
      const outside =
        path.startsWith('/') || path.split('/').some((name) => ['', '.', '..', '.git'].includes(name))
      if (outside) left.push({ path, reason: 'The path is not in the folder.' })
      else if (wanted && !bytes) left.push({ path, reason: 'The content is not stored.' })
      else if (!same) left.push({ path, reason: 'The file was changed meanwhile.' })
      else {
        if (wanted && bytes) folder.set(path, { bytes, mode: wanted.mode })
        else folder.delete(path)
        done.push(path)
      }
    }
    return { directory, done, left }
  }

  async applyAll(groups: readonly FolderEdits[]): Promise<readonly Applied[]> {
    return Promise.all(groups.map(({ directory, edits }) => this.apply(directory, edits)))
  }

  async recover(): Promise<readonly Applied[]> {
    return []
  }

  async collect(kept: ReadonlySet<string>): Promise<void> {
    const called = this.#taken
    await Promise.resolve()
    for (const [id, { order }] of this.#captures)
      if (!kept.has(id) && order <= called) this.#captures.delete(id)
    const needed = new Set(
      [...this.#captures.values()].flatMap(({ tree }) => [...tree.values()].map(({ content }) => content)),
    )
    for (const content of this.#contents.keys()) if (!needed.has(content)) this.#contents.delete(content)
  }

  #visible(folder: ReadonlyMap<string, MemoryFile>): readonly (readonly [string, MemoryFile])[] {
    return [...folder].filter(([path]) => !path.split('/').some((name) => this.ignored.has(name)))
  }

  #capture(id: string) {
    const found = this.#captures.get(id)
    if (!found) throw new CaptureFailed('There is no such capture.')
    return found
  }

  #counts(before: CapturedFile | undefined, after: CapturedFile | undefined): Partial<CapturedChange> {
    const sides = [before, after].map((file) => (file ? this.#contents.get(file.content) : new Uint8Array()))
    const [a, b] = sides
    if (!a || !b) return {}
    return a.includes(0) || b.includes(0) ? { binary: true } : countLines(a, b)
  }
}

/** The name of a content: two hashes of it, which differ for different contents of a test. */
function nameOf(bytes: Uint8Array): string {
  let [a, b] = [0x811c9dc5, bytes.length]
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193) >>> 0
    b = (Math.imul(b, 31) + byte + (a >>> 7)) >>> 0
  }
  return `${a.toString(16).padStart(8, '0')}${b.toString(16).padStart(8, '0')}`
}
