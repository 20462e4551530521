import { limits as allLimits } from '@atrium/protocol/limits'
import { FileError } from '../ports/files.ts'
import { batches, joined } from './plugin-files.ts'
import type { PluginFiles } from './plugin-files.ts'
import { printable, Unusable } from './parse/plugin-text.ts'
import type { PluginLimits } from './plugin.ts'

/** A cryptographic hash, as text. */
export type Hash = (data: Uint8Array | string) => string | Promise<string>

/** What a plugin consists of. A person who agrees to run a plugin agrees to this content (S-37). */
export interface PluginDigest {
  /** Changes if any file changes, appears, disappears or is renamed. */
  readonly digest: string
  /** The path and the hash of each file, sorted by path. Comparing two such lists shows which files have changed. */
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
  const paths = await pathsIn(files, limits)
  const found: FileHash[] = []
  let left = limits.pluginBytes
  for (const some of batches(paths.toSorted())) {
    const most = left
    const read = some.map(async (path) => ({ path, content: await contentOf(files, path, most, limits) }))
    for (const { path, content } of await Promise.all(read)) {
      if (content.length > left) throw tooLarge(path, limits)
      left -= content.length
      found.push({ path, hash: await hash(content) })
    }
  }
  const digest = await hash(JSON.stringify(found.map(({ path, hash: each }) => [path, each])))
  return { digest, files: found }
}

/** Lists the paths of all files. The folders of one level are listed several at a time. */
async function pathsIn(files: PluginFiles, { pluginFiles }: PluginLimits): Promise<readonly string[]> {
  const paths: string[] = []
  let entries = 0
  for (let level = ['']; level.length > 0;) {
    const next: string[] = []
    for (const folders of batches(level)) {
      const lists = folders.map(async (folder) => ({ folder, listed: await files.list(folder, pluginFiles) }))
      for (const { folder, listed } of await Promise.all(lists)) {
        entries += listed.length
        if (entries > pluginFiles) throw new Unusable(`It has more than ${pluginFiles} files and folders.`)
        for (const { name, type } of listed)
          if (type === 'directory') next.push(joined(folder, name))
          else paths.push(joined(folder, name))
      }
    }
    level = next
  }
  return paths
}

/** Lists the files that differ between two contents of a plugin, for a person who is asked for consent again. */
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

/**
 * Reads the content of a file. Throws `Unusable` if the file cannot be read or is too large. A link that leads out of
 * the plugin, and a file that is not regular, such as a FIFO, cannot be read either: their content could change
 * although no file of the plugin changes.
 */
async function contentOf(
  files: PluginFiles,
  path: string,
  left: number,
  limits: PluginLimits,
): Promise<Uint8Array> {
  try {
    return await files.read(path, left)
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    if (error.reason === 'outside') throw new Unusable(`${printable(path)} leads out of the plugin.`)
    if (error.reason !== 'unfit') throw new Unusable(`${printable(path)}: ${error.message}`)
    throw tooLarge(path, limits)
  }
}

function tooLarge(path: string, { pluginBytes }: PluginLimits): Unusable {
  return new Unusable(
    `${printable(path)} is not a regular file, or the plugin has more than ${pluginBytes} bytes.`,
  )
}
