import type { LimitValues } from '@atrium/protocol/limits'
import { digestOf } from '../../plugins/digest.ts'
import type { Hash } from '../../plugins/digest.ts'
import { loadFolders } from '../../plugins/folders.ts'
import { readOnce } from '../../plugins/plugin-files.ts'
import { loadPlugin } from '../../plugins/plugins.ts'
import type { Loaded } from './loaded.ts'
import { linesOf } from './programs.ts'
import type { Source } from './source.ts'

interface Kept {
  readonly loaded: Promise<Loaded | undefined>
  /** The time in milliseconds at which the reading began. */
  readonly at: number
}

/**
 * The plugins and folders that were read. Sessions share what was read a moment ago. If the plugin of a client was
 * read without a problem, it is kept while its nonce stays the same.
 */
export class Library {
  readonly #hash: Hash
  readonly #limits: LimitValues
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()

  constructor(hash: Hash, limits: LimitValues, now: () => number) {
    this.#hash = hash
    this.#limits = limits
    this.#now = now
  }

  /** Reads a source, unless it was read less than `maxAge` ms ago. Undefined if there is no such folder. Never rejects. */
  load(source: Source, maxAge = Infinity): Promise<Loaded | undefined> {
    const key = keyOf(source)
    const known = key === undefined ? undefined : this.#kept.get(key)
    const at = this.#now()
    // The clock may jump backwards, so the time since the reading may be negative.
    if (known && (source.published || Math.abs(at - known.at) < maxAge)) return known.loaded
    const loaded = source.folder ? this.#folder(source) : this.#plugin(source)
    if (key === undefined) return loaded
    const kept = { loaded, at }
    this.#kept.set(key, kept)
    if (source.published) void this.#forgetProblem(key, kept)
    return loaded
  }

  /**
   * Forgets a client's plugin if the reading of the plugin had a problem, because the client may only have been away.
   */
  async #forgetProblem(key: string, kept: Kept): Promise<void> {
    const loaded = await kept.loaded
    if (loaded?.parts.load.kind !== 'loaded' && this.#kept.get(key) === kept) this.#kept.delete(key)
  }

  async #plugin({ files }: Source): Promise<Loaded> {
    const once = readOnce(files)
    const { format, name, version, ...parts } = await loadPlugin(once, this.#limits)
    const named = parts.load.kind === 'error' ? {} : { name }
    const about = { parts, format, ...named, ...(version !== undefined && { version }) }
    if (!parts.components.some((each) => linesOf(each).length > 0)) return about
    try {
      // A program may read any file of its plugin, so the digest covers all of them (S-37).
      return { ...about, digest: (await digestOf(once, this.#hash, this.#limits)).digest }
    } catch {
      return about
    }
  }

  /**
   * Reads a folder of customizations; undefined if it does not exist. The digest covers only the components that run
   * programs: the folder belongs to a workspace, and its other files may change at any time.
   */
  async #folder({ files, folder }: Source): Promise<Loaded | undefined> {
    const [parts] = folder ? await loadFolders(files, [folder], this.#limits) : []
    if (!parts) return undefined
    const programs = parts.components.filter((each) => linesOf(each).length > 0)
    if (programs.length === 0) return { parts }
    return { parts, digest: await this.#hash(JSON.stringify(programs)) }
  }
}

/**
 * Returns the key under which a source is kept. Undefined for a client's plugin without a nonce, which may change at
 * any time and is not kept.
 */
function keyOf({ uri, folder, published }: Source): string | undefined {
  if (!published) return JSON.stringify([uri, folder?.contents])
  const { clientId, plugin } = published
  return plugin.nonce === undefined ? undefined : JSON.stringify([clientId, uri, plugin.nonce])
}
