import { readlink } from 'node:fs/promises'
import type { ContainedPath } from '@atrium/host/ports/files'
import { FileError } from '@atrium/host/ports/files'
import { hold } from './held-file.ts'
import type { Grip, Held } from './held-file.ts'
import { missing, outside, unfit } from './errors.ts'
import {
  isInside,
  joined,
  nameOf,
  namesOf,
  parentOf,
  plain,
  rawFromSystem,
  systemPath,
  textOf,
} from './byte-path.ts'
import type { Raw } from './byte-path.ts'

/** A name in a directory that is held. There may be something of that name, or not. */
export interface Entry {
  readonly dir: Held
  readonly name: Raw
}

/** Not files, whatever they look like: to read some of them is to ask the system to do something, or never ends. */
const system: readonly Raw[] = ['/proc', '/sys', '/dev']

/** Links in a way before it counts as a circle, as the kernel counts. */
const links = 40

/** Decides what is inside: by what was opened, and never by the path it was opened with (S-28, S-29). */
export class Fence {
  readonly #never: readonly Raw[]

  /** Directories that nothing may touch, whatever the roots are. */
  constructor(never: readonly string[]) {
    this.#never = never.flatMap((path) => plain(path) ?? [])
  }

  /** What a place leads to, links followed. */
  async reach(grip: Grip, place: ContainedPath): Promise<Held> {
    return this.#reach(grip, lexical(place), place)
  }

  /** A place as a name in its directory. A root is none: its directory is outside. */
  async entry(grip: Grip, place: ContainedPath): Promise<Entry> {
    const path = lexical(place)
    if (isRoot(place)) throw whole()
    const dir = await this.#reach(grip, parentOf(path), place)
    return this.entryIn(dir, nameOf(path), place)
  }

  /** The name by which something is really known that was reached. */
  async entryOf(grip: Grip, held: Held, place: ContainedPath): Promise<Entry> {
    const dir = await this.#reach(grip, parentOf(held.real), place)
    return this.entryIn(dir, nameOf(held.real), place)
  }

  async entryIn(dir: Held, name: Raw, place: ContainedPath): Promise<Entry> {
    if (!dir.facts.isDirectory()) throw missing()
    await this.#check(joined(dir.real, name), place)
    return { dir, name }
  }

  /** The deepest root above a place that is there, and the names from it on. */
  async base(
    grip: Grip,
    place: ContainedPath,
  ): Promise<{ readonly held: Held; readonly names: readonly Raw[] }> {
    const path = lexical(place)
    const above = rootsOf(place).filter((root) => isInside(path, root))
    for (const root of above.toSorted((a, b) => b.length - a.length)) {
      const held = await grip.hold(systemPath(root), true).catch(() => undefined)
      if (!held?.facts.isDirectory()) continue
      await this.check(held, place)
      return { held, names: namesOf(path.slice(root === '/' ? 0 : root.length)) }
    }
    throw missing()
  }

  /** Whether what is held is inside: in truth, and now. */
  async check(held: Held, place: ContainedPath): Promise<void> {
    await this.#check(held.real, place)
  }

  /** Where something is, in the words of the root that it is in. */
  async named(real: Raw, place: ContainedPath): Promise<Raw> {
    for (const root of rootsOf(place)) {
      const at = await realOf(root)
      if (at === undefined || !isInside(real, at)) continue
      return namesOf(real.slice(at === '/' ? 0 : at.length)).reduce(joined, root)
    }
    throw outside()
  }

  /** A directory that a root is in, or one of those that nothing may touch, stays where it is. */
  async stays(real: Raw, places: readonly ContainedPath[]): Promise<void> {
    const kept = [...places.flatMap(rootsOf), ...this.#never]
    for (const path of kept) if (isInside((await realOf(path)) ?? path, real)) throw whole()
  }

  /** What nothing may touch of what is in a directory, relative to it. */
  async bannedIn(dir: Raw): Promise<readonly string[]> {
    const reals = await Promise.all(this.#never.map(async (path) => (await realOf(path)) ?? path))
    const inside = [...system, ...reals].filter((path) => path !== dir && isInside(path, dir))
    return inside.flatMap((path) => textOf(path.slice(dir === '/' ? 1 : dir.length + 1)) ?? [])
  }

  /** An error on the way to a path, unless the way leads out: whoever asks may not learn what is there. */
  async blame(error: unknown, path: Raw, place: ContainedPath): Promise<unknown> {
    if (error instanceof FileError) return error
    return (await this.#strays(path, place)) ? outside() : error
  }

  async #reach(grip: Grip, path: Raw, place: ContainedPath): Promise<Held> {
    const held = await grip.hold(systemPath(path), true).catch(async (error: unknown) => {
      throw await this.blame(error, path, place)
    })
    await this.check(held, place)
    return held
  }

  async #check(real: Raw, place: ContainedPath): Promise<void> {
    if (await this.#isBanned(real)) throw outside()
    // The root that a path names is nearly always the one that it is in.
    for (const root of likeliest(place)) {
      const at = await realOf(root)
      if (at !== undefined && isInside(real, at)) return
    }
    throw outside()
  }

  async #isBanned(real: Raw): Promise<boolean> {
    if ([...system, ...this.#never].some((path) => isInside(real, path))) return true
    for (const path of this.#never) {
      const at = await realOf(path)
      if (at !== undefined && isInside(real, at)) return true
    }
    return false
  }

  /** Whether a way leads out. Only links that are inside are looked at: of the rest the text has to do. */
  async #strays(path: Raw, place: ContainedPath): Promise<boolean> {
    const roots = rootsOf(place)
    const reals = await Promise.all(roots.map(realOf))
    const isIn = (at: Raw) => [...roots, ...reals].some((root) => root !== undefined && isInside(at, root))
    const ahead = namesOf(path).toReversed()
    let at: Raw = '/'
    let followed = 0
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      at = name === '..' ? parentOf(at) : name === '.' ? at : joined(at, name)
      if (!isIn(at) || followed === links) continue
      const target = await readlink(systemPath(at), { encoding: 'buffer' }).catch(() => undefined)
      if (!target) continue
      const to = rawFromSystem(target)
      followed++
      ahead.push(...namesOf(to).toReversed())
      at = to.startsWith('/') ? '/' : parentOf(at)
    }
    return !isIn(at) || (await this.#isBanned(at))
  }
}

export function isRoot(place: ContainedPath): boolean {
  return rootsOf(place).includes(lexical(place))
}

/** A path that is outside by its text is refused before anything is looked at. */
function lexical(place: ContainedPath): Raw {
  const path = plain(place.path)
  if (path === undefined) throw unfit('This is no path.')
  if (!rootsOf(place).some((root) => isInside(path, root))) throw outside()
  return path
}

function rootsOf({ roots }: ContainedPath): readonly Raw[] {
  return roots.flatMap((root) => plain(root.length > 1 ? root.replace(/\/$/, '') : root) ?? [])
}

/** Those that a path is in by its text come first. */
function likeliest(place: ContainedPath): readonly Raw[] {
  const roots = rootsOf(place)
  const path = plain(place.path)
  const named = roots.filter((root) => path !== undefined && isInside(path, root))
  return [...named, ...roots.filter((root) => !named.includes(root))]
}

/**
 * Where a directory really is now. It may be a link, and may be another one the next time: so nothing is remembered, but
 * those who ask while it is being looked at get the same answer.
 */
function realOf(path: Raw): Promise<Raw | undefined> {
  const asked = looking.get(path) ?? look(path).finally(() => looking.delete(path))
  looking.set(path, asked)
  return asked
}

const looking = new Map<Raw, Promise<Raw | undefined>>()

function look(path: Raw): Promise<Raw | undefined> {
  return hold(systemPath(path), true).then(
    (held) => {
      held.close()
      return held.real
    },
    () => undefined,
  )
}

const whole = () =>
  new FileError('outside', 'A directory that is given as a whole can be neither removed nor replaced.')
