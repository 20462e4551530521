import { expect } from 'vitest'
import type { Change, FileReason, Files, ContainedPath, Write } from '../files.ts'
import { FileError } from '../files.ts'

/** The files under test, an empty directory that the files may use, and a sibling directory that they must not use. */
export interface Sandbox {
  readonly files: Files
  readonly root: string
  readonly beside: string
  /** Creates a symbolic link, which the port has no call for. */
  link(path: string, target: string): Promise<void>
  /** Creates a file without the port. */
  put(path: string, text: string): Promise<void>
}

/**
 * Returns every operation of the port on the path `place`, each with its name. `other` is a valid second path for
 * copies and moves.
 */
export function allCalls(
  files: Files,
  place: ContainedPath,
  other: ContainedPath,
): readonly (readonly [string, () => Promise<unknown>])[] {
  const data = new TextEncoder().encode('written')
  const writes: readonly (readonly [string, Write])[] = [
    ['write', {}],
    ['append', { mode: 'append' }],
    ['insert', { mode: 'insert', position: 1 }],
    ['create', { createOnly: true }],
    ['write what was seen', { ifMatch: 'x' }],
  ]
  const changes: readonly (readonly [string, Change])[] = [
    ['make', { kind: 'make', place }],
    ['remove', { kind: 'remove', place, recursive: false }],
    ['remove all', { kind: 'remove', place, recursive: true }],
    ...(['copy', 'move'] as const).flatMap((kind) => [
      [`${kind} from`, { kind, from: place, to: other, failIfExists: false }] as const,
      [`${kind} to`, { kind, from: other, to: place, failIfExists: false }] as const,
      [`${kind} to a new`, { kind, from: other, to: place, failIfExists: true }] as const,
    ]),
  ]
  const request = { recursive: true, wants: () => true, skips: () => false }
  return [
    ['read', () => files.read(place, 1000)],
    ['list', () => files.list(place, 1000)],
    ['look', () => files.stat(place, true)],
    ['look at itself', () => files.stat(place, false)],
    ['watch', () => files.watch(place, request, () => {}).then((watching) => watching.end())],
    ...writes.map(([name, how]) => [name, () => files.write(place, data, how)] as const),
    ...changes.map(([name, change]) => [name, () => files.change(change)] as const),
  ]
}

/** Returns the reason of a `FileError`; undefined if the call succeeds. Other errors are thrown. */
export async function reasonOf(attempt: Promise<unknown>): Promise<FileReason | undefined> {
  try {
    await attempt
    return undefined
  } catch (error) {
    if (error instanceof FileError) return error.reason
    throw error
  }
}

export async function refused(attempt: Promise<unknown>, reason: FileReason): Promise<void> {
  expect(await reasonOf(attempt)).toBe(reason)
}

/** A sandbox with short functions for tests. Paths are relative to the sandbox's root; an empty path is the root. */
export class SandboxFiles {
  readonly files: Files
  readonly root: string
  readonly beside: string
  readonly link: Sandbox['link']
  readonly put: Sandbox['put']

  constructor({ files, root, beside, link, put }: Sandbox) {
    this.files = files
    this.root = root
    this.beside = beside
    this.link = link
    this.put = put
  }

  readonly at = (path: string): ContainedPath => ({
    path: path === '' ? this.root : `${this.root}/${path}`,
    roots: [this.root],
  })

  readonly write = (path: string, text: string, how?: Write): Promise<void> =>
    this.files.write(this.at(path), new TextEncoder().encode(text), how)

  readonly text = async (path: string): Promise<string> =>
    new TextDecoder().decode(await this.files.read(this.at(path), 1_000_000))

  readonly make = (path: string): Promise<void> => this.files.change({ kind: 'make', place: this.at(path) })

  readonly change = (change: Change): Promise<void> => this.files.change(change)

  readonly etag = async (path: string): Promise<string> => (await this.files.stat(this.at(path), true)).etag

  /** Returns the sorted names in a directory. Names of directories end with a slash. */
  readonly list = async (path: string): Promise<readonly string[]> => {
    const entries = await this.files.list(this.at(path), 1000)
    return entries.map(({ name, type }) => (type === 'directory' ? `${name}/` : name)).toSorted()
  }
}
