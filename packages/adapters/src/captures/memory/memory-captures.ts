import { CaptureFailed } from '@atrium/host/ports/captures'
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
} from '@atrium/host/ports/captures'
import { MemoryFolders, contentName } from './memory-folders.ts'
import type { JournalStep, MemoryFile } from './memory-folders.ts'
import { countLines } from './line-counts.ts'

export { MemoryFolders } from './memory-folders.ts'
export type { MemoryFile } from './memory-folders.ts'

/**
 * Captures of folders in memory: the reference for the port. The folders outlive an instance as a disk outlives a host. Callers
 * change the files of the folders directly.
 */
export class MemoryCaptures implements Captures {
  /** The sentence with which the next captures fail, if they fail. */
  failing: string | undefined
  readonly #disk: MemoryFolders
  /** Called before the files are read, and before each file is changed. What comes next waits for the promise. */
  readonly #pause: () => Promise<void>

  constructor(disk = new MemoryFolders(), pause: () => Promise<void> = () => Promise.resolve()) {
    this.#disk = disk
    this.#pause = pause
  }

  get folders(): MemoryFolders['folders'] {
    return this.#disk.folders
  }

  get heads(): MemoryFolders['heads'] {
    return this.#disk.heads
  }

  get branches(): MemoryFolders['branches'] {
    return this.#disk.branches
  }

  get ignored(): MemoryFolders['ignored'] {
    return this.#disk.ignored
  }

  async take(directory: string, { of, budget, signal }: CaptureOptions): Promise<Capture> {
    await this.#pause()
    if (signal.aborted) throw new CaptureFailed('The capture was stopped.')
    if (this.failing !== undefined) throw new CaptureFailed(this.failing)
    const { contents } = this.#disk
    const fresh = new Map<string, Uint8Array>()
    const omitted: Omission[] = []
    const tree = new Map<string, CapturedFile>()
    for (const [path, { bytes, mode }] of this.#disk.filesOf(directory, of)) {
      const content = contentName(bytes)
      const size = bytes.length
      if (size > budget.fileBytes) {
        const reason = `It is larger than ${budget.fileBytes} bytes.`
        omitted.push({ path, reason })
        tree.set(path, { content: `omitted:${content}`, mode, size, omitted: reason })
        continue
      }
      tree.set(path, { content, mode, size })
      if (!contents.has(content)) fresh.set(content, bytes)
    }
    const read = [...fresh.values()].reduce((sum, { length }) => sum + length, 0)
    if (read > budget.bytes || fresh.size > budget.files)
      throw new CaptureFailed('The changed files are larger than the budget of a capture.')
    for (const [content, bytes] of fresh) contents.set(content, bytes.slice())
    const id = this.#disk.keep(directory, tree)
    return { id, directory, bytes: read, omitted: omitted.toSorted((a, b) => (a.path < b.path ? -1 : 1)) }
  }

  async compare(before: string, after: string): Promise<readonly CapturedChange[]> {
    const [a, b] = [this.#disk.capture(before), this.#disk.capture(after)]
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
    const bytes = this.#disk.contents.get(content)
    if (!bytes) throw new CaptureFailed('The content is not stored.')
    return bytes.slice()
  }

  async apply(directory: string, edits: readonly CapturedEdit[]): Promise<Applied> {
    const [applied] = await this.applyAll([{ directory, edits }])
    return applied ?? { directory, done: [], left: [] }
  }

  async applyAll(groups: readonly FolderEdits[]): Promise<readonly Applied[]> {
    await this.#pause()
    const checked = groups.map(({ directory, edits }) => this.#check(directory, edits))
    this.#disk.journal = { steps: checked.flatMap(({ steps }) => steps), isBegun: false }
    const finished = await this.#finish()
    return checked.map(({ directory, left }, at) => {
      const done = finished.filter(({ step, reason }) => checked[at]?.steps.includes(step) && !reason)
      const later = finished.filter(({ step, reason }) => checked[at]?.steps.includes(step) && reason)
      return {
        directory,
        done: done.map(({ step }) => step.path),
        left: [...left, ...later.map(({ step, reason }) => ({ path: step.path, reason }))],
      }
    })
  }

  async recover(): Promise<readonly Applied[]> {
    if (!this.#disk.journal) return []
    if (!this.#disk.journal.isBegun) {
      this.#disk.journal = undefined
      return []
    }
    const finished = await this.#finish()
    const directories = new Set(finished.map(({ step }) => step.directory))
    return [...directories].map((directory) => {
      const here = finished.filter(({ step }) => step.directory === directory)
      return {
        directory,
        done: here.flatMap(({ step, reason }) => (reason === '' ? [step.path] : [])),
        left: here.flatMap(({ step, reason }) => (reason === '' ? [] : [{ path: step.path, reason }])),
      }
    })
  }

  async collect(kept: ReadonlySet<string>): Promise<void> {
    const called = this.#disk.taken
    await this.#pause()
    this.#disk.collect(kept, called)
  }

  /** Decides which edits can be made. The others are reported, and change nothing. */
  #check(
    directory: string,
    edits: readonly CapturedEdit[],
  ): {
    readonly directory: string
    readonly steps: readonly JournalStep[]
    readonly left: readonly Omission[]
  } {
    const folder = this.#disk.filesIn(directory)
    const left: Omission[] = []
    const steps: JournalStep[] = []
    for (const { path, expected, wanted } of edits) {
      const bytes =
        wanted && ('bytes' in wanted ? wanted.bytes : this.#disk.contents.get(wanted.content)?.slice())
      const file = wanted && bytes && { bytes, mode: wanted.mode }
      const step = { directory, path, ...(expected && { expected }), ...(file && { wanted: file }) }
      const outside =
        path.startsWith('/') || path.split('/').some((name) => ['', '.', '..', '.git'].includes(name))
      if (outside) left.push({ path, reason: 'The path is not in the folder.' })
      else if (wanted && !file) left.push({ path, reason: 'The content is not stored.' })
      else if (!isExpected(folder.get(path), step)) left.push({ path, reason: changed })
      else steps.push(step)
    }
    return { directory, steps, left }
  }

  /** Carries out the journal. Each file is checked again, because somebody may have changed it since. */
  async #finish(): Promise<readonly { readonly step: JournalStep; readonly reason: string }[]> {
    const { journal } = this.#disk
    const finished = []
    for (const step of journal?.steps ?? []) {
      await this.#pause()
      const folder = this.#disk.filesIn(step.directory)
      const present = folder.get(step.path)
      const isDone = isSame(present, step.wanted)
      if (!isDone && !isExpected(present, step)) {
        finished.push({ step, reason: changed })
        continue
      }
      if (journal) journal.isBegun = true
      if (!isDone && step.wanted) folder.set(step.path, step.wanted)
      else if (!isDone) folder.delete(step.path)
      finished.push({ step, reason: '' })
    }
    this.#disk.journal = undefined
    return finished
  }

  #counts(before: CapturedFile | undefined, after: CapturedFile | undefined): Partial<CapturedChange> {
    const [a, b] = [before, after].map((file) =>
      file ? this.#disk.contents.get(file.content) : new Uint8Array(),
    )
    if (!a || !b) return {}
    return a.includes(0) || b.includes(0) ? { binary: true } : countLines(a, b)
  }
}

const changed = 'The file was changed meanwhile.'

function isExpected(present: MemoryFile | undefined, { expected }: JournalStep): boolean {
  if (!present) return !expected
  return expected?.content === contentName(present.bytes) && expected.mode === present.mode
}

function isSame(a: MemoryFile | undefined, b: MemoryFile | undefined): boolean {
  if (!a || !b) return a === b
  return a.mode === b.mode && contentName(a.bytes) === contentName(b.bytes)
}
