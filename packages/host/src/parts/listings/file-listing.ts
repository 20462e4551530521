import type { LimitValues } from '@atrium/protocol/limits'
import { fold } from './fuzzy-match.ts'
import type { Findable } from './fuzzy-match.ts'
import { FileError } from '../../ports/files.ts'
import type { Files } from '../../ports/files.ts'
import type { Vcs } from '../../ports/vcs.ts'
import type { World } from '../../ports/world.ts'

/** A file, by its path relative to the listed directory. */
export interface ListedFile extends Findable {
  readonly path: string
}

/** The files of a directory, and whether all of them were found in time. */
export interface Listing {
  readonly files: readonly ListedFile[]
  readonly complete: boolean
}

interface Machine {
  readonly files: Files | undefined
  readonly vcs: Vcs | undefined
}

/**
 * The files of directories, shortest paths first. Completions ask for the same listing with every typed letter, so a listing
 * is cached for a short time. Version control lists the files that are not ignored. Without version control the directories
 * are walked, with limits.
 */
export class FileListings {
  readonly #machine: Machine
  readonly #world: World
  readonly #limits: LimitValues
  readonly #known = new Map<string, Promise<Listing>>()

  constructor(machine: Machine, world: World, limits: LimitValues) {
    this.#machine = machine
    this.#world = world
    this.#limits = limits
  }

  /** Returns the listing of a directory, cached or new. Never rejects: a directory that cannot be read has no files. */
  of(directory: string): Promise<Listing> {
    const known = this.#known.get(directory)
    if (known) return known
    const listing = this.#list(directory)
    this.#known.set(directory, listing)
    const [oldest] = this.#known.keys()
    if (this.#known.size > this.#limits.listings && oldest !== undefined) this.#known.delete(oldest)
    // The cache time begins when the listing is complete. Otherwise a slow directory would be listed again and again.
    void listing.then(() => {
      this.#world.later(this.#limits.listingMs, () => {
        if (this.#known.get(directory) === listing) this.#known.delete(directory)
      })
    })
    return listing
  }

  /** Returns an uncached listing, for a caller that may just have created a file. */
  async fresh(directory: string): Promise<readonly ListedFile[]> {
    return (await this.#list(directory)).files
  }

  async #list(directory: string): Promise<Listing> {
    try {
      const tracked = await this.#tracked(directory)
      const { paths, complete } = tracked ? { paths: tracked, complete: true } : await this.#walked(directory)
      const files = paths.map((path) => ({ path, folded: fold(path) })).toSorted(shortestFirst)
      return { files, complete }
    } catch (error) {
      this.#world.report('a directory could not be listed', error)
      return { files: [], complete: true }
    }
  }

  /** Returns the files that version control lists; undefined if the directory is in no working tree. */
  async #tracked(directory: string): Promise<readonly string[] | undefined> {
    const { vcs } = this.#machine
    const root = await vcs?.root(directory)
    // The root has no symbolic links in its path. So a directory whose path has one is not below the root, and is
    // treated as one without version control.
    if (!vcs || root === undefined || !`${directory}/`.startsWith(`${root}/`)) return undefined
    const below = `${directory}/`.slice(root.length + 1)
    const files = await vcs.files(root, this.#limits.listingFiles)
    return files.filter((path) => path.startsWith(below)).map((path) => path.slice(below.length))
  }

  /** Walks the directory breadth first, so that the limits leave out the deepest files. */
  async #walked(directory: string): Promise<Walk> {
    const { files } = this.#machine
    const { listingFiles, listingDepth, completionMs, entries: maxEntries } = this.#limits
    const found: string[] = []
    let late = false
    let seen = 0
    const cancel = this.#world.later(completionMs, () => (late = true))
    const queue = [{ path: '', depth: 1 }]
    for (let next = queue.shift(); next && files && !late; next = queue.shift()) {
      const { path, depth } = next
      // Symbolic links may form a cycle. The limit of the depth ends such a walk early.
      if (depth > listingDepth) break
      const place = { path: childOf(directory, path.slice(0, -1)), roots: [directory] }
      for (const { name, type } of await orEmpty(files.list(place, maxEntries))) {
        if (++seen > listingFiles) break
        if (type === 'file') found.push(`${path}${name}`)
        else if (!isSkipped(name)) queue.push({ path: `${path}${name}/`, depth: depth + 1 })
      }
      if (seen > listingFiles) break
    }
    cancel()
    return { paths: found, complete: !late }
  }
}

/** What a walk has found, and whether it had the time to find everything. */
interface Walk {
  readonly paths: readonly string[]
  readonly complete: boolean
}

/** Joins a directory and a relative path. An empty path is the directory itself. */
export function childOf(directory: string, path: string): string {
  if (path === '') return directory
  return directory === '/' ? `/${path}` : `${directory}/${path}`
}

/** Whether a directory belongs to a tool or contains dependencies. Completions leave such directories out. */
function isSkipped(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.')
}

/** Treats a directory that cannot be read as empty, so that the walk goes on with the others. */
async function orEmpty<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    return []
  }
}

function shortestFirst({ path: a }: ListedFile, { path: b }: ListedFile): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : 1
}
