import type { Uri } from '@atrium/protocol/channel'
import { fileUri } from '@atrium/protocol/file-uri'
import { FileError } from '../ports/files.ts'
import type { FileEntry, Files } from '../ports/files.ts'

/**
 * The files of one plugin or customization folder, on this machine or at a client. Paths are relative, with `/` between their
 * names, and '' is the root. Errors are `FileError`s; `missing` means that the file certainly does not exist.
 */
export interface PluginFiles {
  list(path: string, max: number): Promise<readonly FileEntry[]>
  read(path: string, max: number): Promise<Uint8Array>
  uri(path: string): Uri
}

/**
 * The files below a directory of this machine. Each operation names that directory as its only root, so that the adapter
 * refuses a symbolic link that leads out of it (S-28, S-29).
 */
export function containedFiles(files: Files, root: string): PluginFiles {
  const place = (path: string) => ({ path: joined(root, checked(path)), roots: [root] })
  return {
    list: async (path, max) => files.list(place(path), max),
    read: async (path, max) => files.read(place(path), max),
    uri: (path) => fileUri(joined(root, path)),
  }
}

/** The files of a folder inside `files`. A symbolic link in this folder may still lead to any place in the outer folder. */
export function filesIn(files: PluginFiles, folder: string): PluginFiles {
  return {
    list: async (path, max) => files.list(joined(folder, checked(path)), max),
    read: async (path, max) => files.read(joined(folder, checked(path)), max),
    uri: (path) => files.uri(joined(folder, path)),
  }
}

/**
 * Wraps files so that each of them is read and listed at most once. If a load and a digest of a plugin use such
 * files, both describe the same content, even if somebody changes a file in between.
 */
export function readOnce(files: PluginFiles): PluginFiles {
  const lists = new Map<string, Promise<readonly FileEntry[]>>()
  const reads = new Map<string, Promise<Uint8Array>>()
  return {
    list: (path, max) => remembered(lists, path, () => files.list(path, max)),
    async read(path, max) {
      const bytes = await remembered(reads, path, () => files.read(path, max))
      if (bytes.length > max) throw tooLarge(max)
      return bytes
    },
    uri: (path) => files.uri(path),
  }
}

export function joined(folder: string, path: string): string {
  if (folder === '' || path === '') return folder + path
  return folder.endsWith('/') ? folder + path : `${folder}/${path}`
}

/**
 * Returns the path if each of its segments is a valid file name. Throws for any other path: a path with `..` would leave the
 * folder.
 */
export function checked(path: string): string {
  if (path !== '' && !path.split('/').every(isName))
    throw new FileError('outside', 'This is not a path inside the folder.')
  return path
}

export function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0\p{Surrogate}]/u.test(name)
}

/** Splits items into groups. The files of one group are read at the same time. */
export function batches<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / batch) }, (_, n) =>
    items.slice(n * batch, (n + 1) * batch),
  )
}

const batch = 16

export const tooLarge = (max: number) => new FileError('unfit', `It is larger than ${max} bytes.`)

function remembered<T>(known: Map<string, Promise<T>>, path: string, read: () => Promise<T>): Promise<T> {
  const before = known.get(path)
  if (before) return before
  const now = read()
  known.set(path, now)
  // A failure is not remembered: a file that was too large for one reader may be read by another.
  now.catch(() => known.delete(path))
  return now
}
