import { limits as allLimits } from '@atrium/protocol/limits'
import { FileError } from '../ports/files.ts'
import { joined } from './plugin-files.ts'
import type { PluginFiles } from './plugin-files.ts'
import { printable, Unusable } from './parse/plugin-text.ts'
import type { PluginLimits } from './plugin.ts'

/** A cryptographic hash, as text. */
export type Hash = (data: Uint8Array | string) => string | Promise<string>

/** What a plugin consists of. A person who agrees to run a plugin agrees to this content (S-37). */
export interface PluginDigest {
  /** Changes if any file changes, appears, disappears or is renamed. */
  readonly digest: string
  /** The hash of each file, by its path, in order. Two of these lists tell what has changed. */
  readonly files: readonly FileHash[]
}

export interface FileHash {
  readonly path: string
  readonly hash: string
}

export interface FileDifference {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
}

/**
 * Computes the digest of all files of a plugin, not only of those that it declares: a hook may run any of them. Throws an
 * error with a sentence for users if the plugin is too large or cannot be read, because then nobody can agree to it.
 */
export async function digestOf(
  files: PluginFiles,
  hash: Hash,
  limits: PluginLimits = allLimits,
): Promise<PluginDigest> {
  const found: FileHash[] = []
  let entries = 0
  let left = limits.pluginBytes
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const listed = await files.list(folder, limits.pluginFiles)
    entries += listed.length
    if (entries > limits.pluginFiles)
      throw new Unusable(`It has more than ${limits.pluginFiles} files and folders.`)
    for (const { name, type } of listed) {
      const path = joined(folder, name)
      if (type === 'directory') folders.push(path)
      else {
        const content = await contentOf(files, path, left, limits.pluginBytes)
        left -= content.length
        found.push({ path, hash: await hash(content) })
      }
    }
  }
  found.sort((a, b) => (a.path < b.path ? -1 : 1))
  return {
    digest: await hash(JSON.stringify(found.map(({ path, hash: each }) => [path, each]))),
    files: found,
  }
}

/** What differs between two contents of a plugin, for a person who is asked again. */
export function differences(
  before: readonly FileHash[],
  after: readonly FileHash[],
): readonly FileDifference[] {
  const old = new Map(before.map(({ path, hash }) => [path, hash]))
  const now = new Map(after.map(({ path, hash }) => [path, hash]))
  const paths = [...new Set([...old.keys(), ...now.keys()])]
  return paths.flatMap((path): readonly FileDifference[] => {
    if (!now.has(path)) return [{ path, change: 'removed' }]
    if (!old.has(path)) return [{ path, change: 'added' }]
    return old.get(path) === now.get(path) ? [] : [{ path, change: 'changed' }]
  })
}

/** The content of a file. Somebody could change what is behind a link out of the plugin, or come out of a FIFO. */
async function contentOf(files: PluginFiles, path: string, left: number, most: number): Promise<Uint8Array> {
  try {
    return await files.read(path, left)
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    if (error.reason === 'outside') throw new Unusable(`${printable(path)} leads out of the plugin.`)
    if (error.reason !== 'unfit') throw new Unusable(`${printable(path)}: ${error.message}`)
    throw new Unusable(`${printable(path)} is not a regular file, or the plugin has more than ${most} bytes.`)
  }
}
