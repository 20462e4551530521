import { createHash } from 'node:crypto'
import { open, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../../process/sync-folder.ts'
import { packDifferences, unpackDifferences } from './differences.ts'
import type { Difference, Differences } from './differences.ts'
import { sameEntry } from './tree-edit.ts'

/** A capture that is stored as its differences from another capture, its parent. */
interface Link {
  readonly parent: string
  readonly packed: string
  /** Undefined: not unpacked yet. */
  differences?: Differences
}

/** What must stay stored so that some captures can be read. */
export interface KeptLinks {
  readonly links: ReadonlyMap<string, Link>
  /** The captures that stand alone, and those at the beginning of a chain. A cleanup keeps their whole trees. */
  readonly roots: readonly string[]
  /** The contents on both sides of the differences. */
  readonly contents: ReadonlySet<string>
}

/**
 * A file that stores captures as their differences from the previous capture. The reason is space: a git tree names all files
 * of a folder, so the trees of a capture would take more space than its contents. Captures of one chain can be compared without
 * any tree. A capture that is not in the file is stored as a tree.
 */
export class CaptureChain {
  readonly #file: string
  #loaded: Promise<Map<string, Link>> | undefined
  /** The differences of the last capture from the tree of the index. */
  #last: { readonly from: string; readonly to: string; readonly differences: Differences } | undefined

  constructor(file: string) {
    this.#file = file
  }

  /** Returns the differences between two captures. Returns undefined if they are not in one chain. */
  async between(from: string, to: string): Promise<Differences | undefined> {
    if (this.#last?.from === from && this.#last.to === to) return this.#last.differences
    const links = await this.#links()
    const way = wayBetween(links, from, to)
    if (!way) return undefined
    const all = new Map<string, Difference>()
    for (const tree of way.up)
      for (const [path, { before, after }] of differencesAt(links, tree)) follow(all, path, after, before)
    for (const tree of way.down)
      for (const [path, { before, after }] of differencesAt(links, tree)) follow(all, path, before, after)
    return all
  }

  /** Returns the capture at the beginning of the chain of a capture. */
  async root(tree: string): Promise<string> {
    return ancestors(await this.#links(), tree).at(-1) ?? tree
  }

  /**
   * Stores a capture, unless it is already in the chain of its parent or in another chain. The capture is on the disk when the
   * promise resolves. Returns the number of bytes written.
   */
  async add(tree: string, parent: string, differences: Differences): Promise<number> {
    const links = await this.#links()
    if (links.has(tree) || ancestors(links, parent).includes(tree)) return 0
    const link: Link = { parent, packed: packDifferences(differences), differences }
    const isNew = (await stat(this.#file).catch(() => undefined)) === undefined
    const text = lineOf(tree, link)
    const file = await open(this.#file, 'a', 0o600)
    try {
      await file.writeFile(text)
      await file.datasync()
    } finally {
      await file.close()
    }
    if (isNew) await syncFolder(dirname(this.#file))
    links.set(tree, link)
    return text.length
  }

  /** Keeps how the last capture differs from the tree of the index. The next capture is compared with it. */
  remember(from: string, to: string, differences: Differences): void {
    this.#last = { from, to, differences }
  }

  /**
   * Returns what must stay stored so that these captures can be read. `isWhole` tells whether all trees of a capture
   * are stored. Such a capture can begin a chain.
   */
  async kept(trees: ReadonlySet<string>, isWhole: (tree: string) => boolean): Promise<KeptLinks> {
    const links = await this.#links()
    const kept = new Map<string, Link>()
    const roots = new Set<string>()
    const contents = new Set<string>()
    for (const tree of trees) {
      const seen = new Set([tree])
      let parent = stepUp(links, seen, tree)
      while (parent !== undefined && !trees.has(parent)) parent = stepUp(links, seen, parent)
      if (parent === undefined && links.has(tree) && !isWhole(tree)) parent = ancestors(links, tree).at(-1)
      if (parent === undefined) roots.add(tree)
      const differences = parent === undefined ? undefined : await this.between(parent, tree)
      if (parent === undefined || !differences) continue
      if (!trees.has(parent)) roots.add(parent)
      kept.set(tree, { parent, packed: packDifferences(differences), differences })
      for (const { before, after } of differences.values())
        for (const side of [before, after]) if (side) contents.add(side.hash)
    }
    return { links: kept, roots: [...roots], contents }
  }

  /** Rewrites the file with these captures only. */
  async replace({ links }: KeptLinks): Promise<void> {
    const text = [...links].map(([tree, link]) => lineOf(tree, link)).join('')
    await writeFile(`${this.#file}.new`, text, { flush: true, mode: 0o600 })
    await rename(`${this.#file}.new`, this.#file)
    await syncFolder(dirname(this.#file))
    this.#loaded = undefined
    this.#last = undefined
  }

  #links(): Promise<Map<string, Link>> {
    return (this.#loaded ??= load(this.#file))
  }
}

async function load(file: string): Promise<Map<string, Link>> {
  const links = new Map<string, Link>()
  const text = await readFile(file, 'latin1').catch(() => '')
  for (const line of text.split('\n')) {
    const [sum, tree, parent, packed] = line.split(' ')
    // A crash or a full disk may leave a torn line. It is skipped: the call that wrote it has not succeeded, so no
    // caller knows its capture.
    if (tree === undefined || parent === undefined || packed === undefined) continue
    if (sum === sumOf(tree, parent, packed)) links.set(tree, { parent, packed })
  }
  return links
}

/**
 * Returns the line of a capture. It begins with a line break and does not end with one. So it can be read even if the
 * line before it is torn.
 */
function lineOf(tree: string, { parent, packed }: Link): string {
  return `\n${sumOf(tree, parent, packed)} ${tree} ${parent} ${packed}`
}

function sumOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 16)
}

/**
 * Returns the way between two captures: `up` leads from the first capture to a common ancestor, `down` from the ancestor to the
 * second capture. The search goes up from both captures in turns, because compared captures are mostly near each other, and a
 * chain may be long.
 */
function wayBetween(
  links: ReadonlyMap<string, Link>,
  from: string,
  to: string,
): { readonly up: readonly string[]; readonly down: readonly string[] } | undefined {
  const [up, down] = [new Set([from]), new Set([to])]
  const until = (side: ReadonlySet<string>, common: string) => [...side].slice(0, [...side].indexOf(common))
  let [a, b]: (string | undefined)[] = [from, to]
  while (a !== undefined || b !== undefined) {
    const common = [a, b].find((tree) => tree !== undefined && up.has(tree) && down.has(tree))
    if (common !== undefined) return { up: until(up, common), down: until(down, common).toReversed() }
    a = stepUp(links, up, a)
    b = stepUp(links, down, b)
  }
  return undefined
}

/**
 * Returns the parent of a capture, and adds it to `seen`. Returns undefined at the end of the chain, and if the parent was seen
 * before (in a cycle).
 */
function stepUp(
  links: ReadonlyMap<string, Link>,
  seen: Set<string>,
  tree: string | undefined,
): string | undefined {
  const parent = tree === undefined ? undefined : links.get(tree)?.parent
  if (parent === undefined || seen.has(parent)) return undefined
  seen.add(parent)
  return parent
}

/**
 * Returns a capture, its parent, the parent of its parent, and so on. The list ends before a capture that it already has,
 * because a damaged file may contain a cycle.
 */
function ancestors(links: ReadonlyMap<string, Link>, tree: string): readonly string[] {
  const found = new Set([tree])
  for (let link = links.get(tree); link && !found.has(link.parent); link = links.get(link.parent))
    found.add(link.parent)
  return [...found]
}

function differencesAt(links: ReadonlyMap<string, Link>, tree: string): Differences {
  const link = links.get(tree)
  return link ? (link.differences ??= unpackDifferences(link.packed)) : new Map()
}

/** Merges a later difference of a path into the differences so far. */
function follow(
  all: Map<string, Difference>,
  path: string,
  before: Difference['before'],
  after: Difference['after'],
): void {
  const known = all.get(path)
  const first = known ? known.before : before
  if (sameEntry(first, after)) all.delete(path)
  else all.set(path, { ...(first && { before: first }), ...(after && { after }) })
}
