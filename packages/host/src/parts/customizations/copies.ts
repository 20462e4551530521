import type { LimitValues } from '@atrium/protocol/limits'
import { digestOf } from '../../plugins/digest.ts'
import type { Hash } from '../../plugins/digest.ts'
import { readOnce } from '../../plugins/plugin-files.ts'
import type { PluginFiles } from '../../plugins/plugin-files.ts'
import type { PluginCopies } from '../../plugins/plugin-copies.ts'
import { Unusable } from '../../plugins/parse/plugin-text.ts'

/**
 * The copies of clients' plugins. The files of such a plugin are at the client, so its programs run from a copy. A copy is
 * checked before each use, because a running program could have changed it.
 */
export class Copies {
  readonly #folders: PluginCopies
  readonly #hash: Hash
  readonly #limits: LimitValues

  constructor(folders: PluginCopies, hash: Hash, limits: LimitValues) {
    this.#folders = folders
    this.#hash = hash
    this.#limits = limits
  }

  /**
   * Returns the path of a folder on this machine whose files have this digest. If there is none, copies the files
   * from `original`. Throws an error with a sentence for users if that fails.
   */
  async folder(digest: string, original: PluginFiles): Promise<string> {
    const { path, files } = this.#folders.at(digest)
    if ((await this.#digestOf(files)) === digest) return path
    const once = readOnce(original)
    const { digest: now, files: paths } = await digestOf(once, this.#hash, this.#limits)
    if (now !== digest) throw new Unusable('The client has changed the files of this plugin.')
    const copied = paths.map(async (file) => ({
      path: file.path,
      content: await once.read(file.path, this.#limits.pluginBytes),
    }))
    await this.#folders.write(digest, await Promise.all(copied))
    // A file system may treat two names, such as `A` and `a`, as the same, so that one file has replaced the other.
    if ((await this.#digestOf(files)) !== digest) throw new Unusable('The copy differs from the plugin.')
    return path
  }

  /**
   * Computes the digest of the files of a copy. Undefined if they cannot be read, for example because there are none.
   */
  async #digestOf(files: PluginFiles): Promise<string | undefined> {
    try {
      return (await digestOf(files, this.#hash, this.#limits)).digest
    } catch {
      return undefined
    }
  }
}
