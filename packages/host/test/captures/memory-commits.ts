import { CommitFailed } from '../../src/ports/commits.ts'
import type { Commit, CommitRequest, Commits } from '../../src/ports/commits.ts'
import type { MemoryCaptures, MemoryFile } from '@atrium/adapters/captures/memory'

type Files = ReadonlyMap<string, MemoryFile>

/**
 * Repositories in memory: every folder of the captures that has a head. Tests set `failing` to the sentence with which
 * operations fail.
 */
export class MemoryCommits implements Commits {
  readonly messages: string[] = []
  failing: string | undefined
  readonly #captures: Pick<MemoryCaptures, 'folders' | 'heads'>
  /** The staged files that differ from the head. Undefined if the file is deleted. */
  readonly #index = new Map<string, Map<string, MemoryFile | undefined>>()

  constructor(captures: Pick<MemoryCaptures, 'folders' | 'heads'>) {
    this.#captures = captures
  }

  async staged(directory: string): Promise<readonly string[]> {
    return [...(this.#index.get(directory)?.keys() ?? [])].toSorted()
  }

  async stage(directory: string, paths: readonly string[]): Promise<void> {
    const { files, head } = this.#at(directory)
    checkPaths(paths)
    for (const path of paths) this.#put(directory, path, files.get(path), head)
  }

  async unstage(directory: string, paths: readonly string[]): Promise<void> {
    this.#at(directory)
    checkPaths(paths)
    for (const path of paths) this.#index.get(directory)?.delete(path)
  }

  async commit(directory: string, { message, paths }: CommitRequest): Promise<Commit> {
    const { files, head } = this.#at(directory)
    if (message.trim() === '' || message.includes('\0')) throw new CommitFailed('A commit needs a message.')
    const index = this.#index.get(directory) ?? new Map<string, MemoryFile | undefined>()
    if (!paths && index.size === 0) throw new CommitFailed('There is nothing staged.')
    checkPaths(paths ?? [])
    const lost = paths?.find((path) => index.has(path) && !isSame(index.get(path), files.get(path)))
    if (lost !== undefined)
      throw new CommitFailed(`${lost} has staged changes that differ from the file. Stage it again.`)
    const chosen = paths
      ? paths.map((path) => [path, files.get(path)] as const)
      : [...index].map((entry) => entry)
    const changed = chosen.filter(([path, file]) => !isSame(file, head.get(path)))
    if (changed.length === 0) throw new CommitFailed('There is nothing to commit in these files.')
    const next = new Map(head)
    for (const [path, file] of changed) {
      if (file) next.set(path, file)
      else next.delete(path)
      index.delete(path)
    }
    this.#captures.heads.set(directory, next)
    this.messages.push(message.trim())
    const id = this.messages.length.toString(16).padStart(40, 'c')
    return { id, branch: 'main', paths: changed.map(([path]) => path).toSorted() }
  }

  async recover(): Promise<void> {}

  #put(directory: string, path: string, file: MemoryFile | undefined, head: Files): void {
    const index = this.#index.get(directory) ?? new Map<string, MemoryFile | undefined>()
    this.#index.set(directory, index)
    if (isSame(file, head.get(path))) index.delete(path)
    else index.set(path, file)
  }

  #at(directory: string): { readonly files: Files; readonly head: Files } {
    if (this.failing !== undefined) throw new CommitFailed(this.failing)
    const [files, head] = [this.#captures.folders.get(directory), this.#captures.heads.get(directory)]
    if (!files || !head) throw new CommitFailed('There is no repository in this folder.')
    return { files, head }
  }
}

function checkPaths(paths: readonly string[]): void {
  const isName = (name: string) => !['', '.', '..'].includes(name) && name.toLowerCase() !== '.git'
  for (const path of paths)
    if (path.includes('\0') || !path.split('/').every(isName))
      throw new CommitFailed(`${JSON.stringify(path)} is no file of the folder.`)
}

function isSame(a: MemoryFile | undefined, b: MemoryFile | undefined): boolean {
  if (!a || !b) return a === b
  return (
    a.mode === b.mode &&
    a.bytes.length === b.bytes.length &&
    a.bytes.every((byte, at) => byte === b.bytes[at])
  )
}
