import { readlink } from 'node:fs/promises'
import type { ContainedPath } from '@atrium/host/ports/files'
import { FileError } from '@atrium/host/ports/files'
import { holdFile } from './held-file.ts'
import type { Descriptors, HeldFile } from './held-file.ts'
import { missing, outside, unfit } from './errors.ts'
import {
  bytePathFromSystem,
  isInside,
  joinPath,
  nameOf,
  namesOf,
  parentOf,
  parsePath,
  systemPath,
  textOf,
} from './byte-path.ts'
import type { BytePath } from './byte-path.ts'

/** A name in a directory, which is open as a held file. A file of that name may exist or not. */
export interface DirectoryEntry {
  readonly dir: HeldFile
  readonly name: BytePath
}

/** Kernel file systems: reading some of their files triggers an action or never ends. */
const kernelDirectories: readonly BytePath[] = ['/proc', '/sys', '/dev']

/** Number of links that are followed in one path before the path counts as a loop. The kernel uses the same number. */
const maxLinks = 40

/**
 * Decides whether a file is inside its roots, the directories that its caller may use. The file that was opened
 * decides, never the text of the path (S-28, S-29).
 */
export class Containment {
  readonly #forbidden: readonly BytePath[]
  readonly #permitted: readonly BytePath[]

  /** `forbidden`: directories that no operation may touch, even inside a root, except for what is inside of `permitted`. */
  constructor(forbidden: readonly string[], permitted: readonly string[] = []) {
    this.#forbidden = forbidden.flatMap((path) => parsePath(path) ?? [])
    this.#permitted = permitted.flatMap((path) => parsePath(path) ?? [])
  }

  /** Follows all links of a path, and returns the file that the path leads to, as a held file. */
  async resolve(descriptors: Descriptors, place: ContainedPath): Promise<HeldFile> {
    return this.#resolve(descriptors, checkedPath(place), place)
  }

  /** Returns the directory entry that a path names. Throws for a root: the parent directory of a root is outside. */
  async entry(descriptors: Descriptors, place: ContainedPath): Promise<DirectoryEntry> {
    const path = checkedPath(place)
    if (isRoot(place)) throw wholeRoot()
    const dir = await this.#resolve(descriptors, parentOf(path), place)
    return this.entryIn(dir, nameOf(path), place)
  }

  /**
   * Returns the directory entry at the real path of a file. It differs from the named entry if links led to the file.
   */
  async realEntry(descriptors: Descriptors, file: HeldFile, place: ContainedPath): Promise<DirectoryEntry> {
    const dir = await this.#resolve(descriptors, parentOf(file.realPath), place)
    return this.entryIn(dir, nameOf(file.realPath), place)
  }

  async entryIn(dir: HeldFile, name: BytePath, place: ContainedPath): Promise<DirectoryEntry> {
    if (!dir.stat.isDirectory()) throw missing()
    await this.#check(joinPath(dir.realPath, name), place)
    return { dir, name }
  }

  /** Returns the deepest existing root that contains the path by its text, and the names from that root to the path. */
  async deepestRoot(
    descriptors: Descriptors,
    place: ContainedPath,
  ): Promise<{ readonly root: HeldFile; readonly names: readonly BytePath[] }> {
    const path = checkedPath(place)
    const above = rootsOf(place).filter((root) => isInside(path, root))
    for (const root of above.toSorted((a, b) => b.length - a.length)) {
      const held = await descriptors.hold(systemPath(root), true).catch(() => undefined)
      if (!held?.stat.isDirectory()) continue
      await this.check(held, place)
      return { root: held, names: namesOf(path.slice(root === '/' ? 0 : root.length)) }
    }
    throw missing()
  }

  /** Throws unless the file is inside a root now, by its real path. */
  async check(file: HeldFile, place: ContainedPath): Promise<void> {
    await this.#check(file.realPath, place)
  }

  /** Rewrites a real path for the caller: it starts with the root as the caller gave it, which may be a link. */
  async pathUnderRoot(realPath: BytePath, place: ContainedPath): Promise<BytePath> {
    for (const root of rootsOf(place)) {
      const realRoot = await realPathOf(root)
      if (realRoot === undefined || !isInside(realPath, realRoot)) continue
      return namesOf(realPath.slice(realRoot === '/' ? 0 : realRoot.length)).reduce(joinPath, root)
    }
    throw outside()
  }

  /** Throws if a directory contains a root or a forbidden directory: such a directory is neither moved nor removed. */
  async checkRemovable(realPath: BytePath, places: readonly ContainedPath[]): Promise<void> {
    const kept = [...places.flatMap(rootsOf), ...this.#forbidden]
    for (const path of kept) if (isInside((await realPathOf(path)) ?? path, realPath)) throw wholeRoot()
  }

  /** Returns the paths below a directory that no operation may touch. They are relative to that directory. */
  async forbiddenIn(dir: BytePath): Promise<readonly string[]> {
    const forbidden = await Promise.all(this.#forbidden.map(async (path) => (await realPathOf(path)) ?? path))
    const below = [...kernelDirectories, ...forbidden].filter((path) => path !== dir && isInside(path, dir))
    return below.flatMap((path) => textOf(path.slice(dir === '/' ? 1 : dir.length + 1)) ?? [])
  }

  /** Replaces an error by `outside` if the path leads out of the roots: a caller may not learn what exists outside. */
  async concealOutside(error: unknown, path: BytePath, place: ContainedPath): Promise<unknown> {
    if (error instanceof FileError) return error
    return (await this.#leadsOutside(path, place)) ? outside() : error
  }

  async #resolve(descriptors: Descriptors, path: BytePath, place: ContainedPath): Promise<HeldFile> {
    const held = await descriptors.hold(systemPath(path), true).catch(async (error: unknown) => {
      throw await this.concealOutside(error, path, place)
    })
    await this.check(held, place)
    return held
  }

  async #check(realPath: BytePath, place: ContainedPath): Promise<void> {
    if (await this.#isForbidden(realPath)) throw outside()
    for (const root of likelyRootsFirst(place)) {
      const realRoot = await realPathOf(root)
      if (realRoot !== undefined && isInside(realPath, realRoot)) return
    }
    throw outside()
  }

  async #isForbidden(realPath: BytePath): Promise<boolean> {
    if (kernelDirectories.some((path) => isInside(realPath, path))) return true
    const contains = async (path: BytePath) => {
      if (isInside(realPath, path)) return true
      const real = await realPathOf(path)
      return real !== undefined && isInside(realPath, real)
    }
    if (!(await someOf(this.#forbidden, contains))) return false
    // Only real paths of permitted directories are compared. So a link cannot widen what is permitted. What is inside
    // a permitted directory may be used, but not the directory itself.
    return !(await someOf(this.#permitted, async (path) => {
      const real = await realPathOf(path)
      return real !== undefined && real !== realPath && isInside(realPath, real)
    }))
  }

  /**
   * Whether a path leads out of the roots. Follows it link by link. Only links inside the roots are read; outside,
   * the text of the path decides.
   */
  async #leadsOutside(path: BytePath, place: ContainedPath): Promise<boolean> {
    const roots = rootsOf(place)
    const realRoots = await Promise.all(roots.map(realPathOf))
    const isIn = (at: BytePath) =>
      [...roots, ...realRoots].some((root) => root !== undefined && isInside(at, root))
    const ahead = namesOf(path).toReversed()
    let at: BytePath = '/'
    let followed = 0
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      at = name === '..' ? parentOf(at) : name === '.' ? at : joinPath(at, name)
      if (!isIn(at) || followed === maxLinks) continue
      const link = await readlink(systemPath(at), { encoding: 'buffer' }).catch(() => undefined)
      if (!link) continue
      const target = bytePathFromSystem(link)
      followed++
      ahead.push(...namesOf(target).toReversed())
      at = target.startsWith('/') ? '/' : parentOf(at)
    }
    return !isIn(at) || (await this.#isForbidden(at))
  }
}

export function isRoot(place: ContainedPath): boolean {
  return rootsOf(place).includes(checkedPath(place))
}

/** Parses a path. A path whose text is outside the roots is refused before any system call. */
function checkedPath(place: ContainedPath): BytePath {
  const path = parsePath(place.path)
  if (path === undefined) throw unfit('This is not an absolute path.')
  if (!rootsOf(place).some((root) => isInside(path, root))) throw outside()
  return path
}

function rootsOf({ roots }: ContainedPath): readonly BytePath[] {
  return roots.flatMap((root) => parsePath(root.length > 1 ? root.replace(/\/$/, '') : root) ?? [])
}

/**
 * Returns the roots in the order in which they are tried. Roots that contain the path by its text come first: one of
 * them nearly always contains the real path too.
 */
function likelyRootsFirst(place: ContainedPath): readonly BytePath[] {
  const roots = rootsOf(place)
  const path = parsePath(place.path)
  const likely = roots.filter((root) => path !== undefined && isInside(path, root))
  return [...likely, ...roots.filter((root) => !likely.includes(root))]
}

/**
 * Returns the real path of a directory now. The result is never cached, because a link may be replaced at any time.
 * Only callers that ask during the same lookup share one result.
 */
function realPathOf(path: BytePath): Promise<BytePath | undefined> {
  const lookup = lookups.get(path) ?? lookUp(path).finally(() => lookups.delete(path))
  lookups.set(path, lookup)
  return lookup
}

const lookups = new Map<BytePath, Promise<BytePath | undefined>>()

function lookUp(path: BytePath): Promise<BytePath | undefined> {
  return holdFile(systemPath(path), true).then(
    (held) => {
      held.close()
      return held.realPath
    },
    () => undefined,
  )
}

async function someOf<T>(all: readonly T[], test: (each: T) => Promise<boolean>): Promise<boolean> {
  for (const each of all) if (await test(each)) return true
  return false
}

const wholeRoot = () =>
  new FileError('outside', 'A root directory, or one that contains it, cannot be moved, removed or replaced.')
