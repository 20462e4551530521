import type { LimitValues } from '@atrium/protocol/limits'
import { fold } from './fuzzy-match.ts'
import type { Findable } from './fuzzy-match.ts'
import { FileError } from '../ports/files.ts'
import type { Files } from '../ports/files.ts'
import type { Vcs } from '../ports/vcs.ts'
import type { World } from '../ports/world.ts'

/** A file of a directory, by its path in there. */
export interface ListedFile extends Findable {
  readonly path: string
}

interface Machine {
  readonly files: Files | undefined
  readonly vcs: Vcs | undefined
}

/**
 * Which files there are in directories, the shortest paths first: asked for with every letter that somebody types, so it is
 * known for a moment. Version control knows what is ignored; without it a bounded walk has to do.
 */
export class FileListings {
  readonly #machine: Machine
  readonly #world: World
  readonly #limits: LimitValues
  readonly #known = new Map<string, Promise<readonly ListedFile[]>>()

  constructor(machine: Machine, world: World, limits: LimitValues) {
    this.#machine = machine
    this.#world = world
    this.#limits = limits
  }

  /** Never rejects: of what cannot be read nothing is known. */
  of(directory: string): Promise<readonly ListedFile[]> {
    const known = this.#known.get(directory)
    if (known) return known
    const listing = this.#list(directory)
    this.#known.set(directory, listing)
    const [oldest] = this.#known.keys()
    if (this.#known.size > this.#limits.listings && oldest !== undefined) this.#known.delete(oldest)
    // Counted from the moment it is there: what takes long is not asked for again and again.
    void listing.then(() => {
      this.#world.later(this.#limits.listingMs, () => {
        if (this.#known.get(directory) === listing) this.#known.delete(directory)
      })
    })
    return listing
  }

  /** As they are at this moment, for whoever may just have made one. */
  fresh(directory: string): Promise<readonly ListedFile[]> {
    return this.#list(directory)
  }

  async #list(directory: string): Promise<readonly ListedFile[]> {
    try {
      const paths = (await this.#tracked(directory)) ?? (await this.#walked(directory))
      return paths.map((path) => ({ path, folded: fold(path) })).toSorted(shortestFirst)
    } catch (error) {
      this.#world.report('a directory could not be listed', error)
      return []
    }
  }

  /** What version control says is there; nothing where it does not know the directory. */
  async #tracked(directory: string): Promise<readonly string[] | undefined> {
    const { vcs } = this.#machine
    const root = await vcs?.root(directory)
    // A link on the way there could make it two names for one place.
    if (!vcs || root === undefined || !`${directory}/`.startsWith(`${root}/`)) return undefined
    const below = `${directory}/`.slice(root.length + 1)
    const files = await vcs.files(root, this.#limits.listingFiles)
    return files.filter((path) => path.startsWith(below)).map((path) => path.slice(below.length))
  }

  /** The nearest first, so that what is left out is what is deepest. */
  async #walked(directory: string): Promise<readonly string[]> {
    const { files } = this.#machine
    const { listingFiles, listingDepth, completionMs, entries: mostEntries } = this.#limits
    const found: string[] = []
    let late = false
    let seen = 0
    const undo = this.#world.later(completionMs, () => (late = true))
    const waiting = [{ path: '', depth: 1 }]
    for (let next = waiting.shift(); next && files && !late; next = waiting.shift()) {
      const { path, depth } = next
      // Of links that lead in circles nothing else would come to an end soon.
      if (depth > listingDepth) break
      const place = { path: childOf(directory, path.slice(0, -1)), roots: [directory] }
      for (const { name, type } of await unlessBroken(files.list(place, mostEntries))) {
        if (++seen > listingFiles) break
        if (type === 'file') found.push(`${path}${name}`)
        else if (!isSkipped(name)) waiting.push({ path: `${path}${name}/`, depth: depth + 1 })
      }
      if (seen > listingFiles) break
    }
    undo()
    return found
  }
}

/** The path of something in a directory; of that itself where nothing is named. */
export function childOf(directory: string, path: string): string {
  if (path === '') return directory
  return directory === '/' ? `/${path}` : `${directory}/${path}`
}

/** Directories that nobody means when they type a name: what tools keep, and what others wrote. */
function isSkipped(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.')
}

/** A directory that cannot be read is as good as empty: the others are not. */
async function unlessBroken<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
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
