import { constants } from 'node:fs'
import type { Dirent } from 'node:fs'
import { chmod, lstat, mkdir, open, opendir, readlink, rmdir, symlink, unlink } from 'node:fs/promises'
import { gripping } from './held-file.ts'
import type { Held } from './held-file.ts'
import { pour } from './copy-bytes.ts'
import { changed, codeOf, unfit } from './errors.ts'
import type { Raw } from './byte-path.ts'

/** How much one change may do. */
export interface TreeLimits {
  readonly treeDepth: number
  readonly treeEntries: number
  readonly copyBytes: number
}

/** What is left of it, in one walk. */
export class Budget {
  readonly depth: number
  #entries: number
  #bytes: number

  constructor({ treeDepth, treeEntries, copyBytes }: TreeLimits) {
    this.depth = treeDepth
    this.#entries = treeEntries
    this.#bytes = copyBytes
  }

  get entries(): number {
    return this.#entries
  }

  spendEntries(count: number): void {
    this.#entries -= count
  }

  readonly spendBytes = (count: number): void => {
    this.#bytes -= count
    if (this.#bytes < 0) throw unfit('It is too large to be copied.')
  }
}

/** Judges a directory before anything is done with it. */
export type Judge = (dir: Held) => Promise<void>

export interface Child {
  readonly name: Raw
  readonly type: 'file' | 'directory' | 'symlink' | 'special'
}

/** What a directory holds, as long as that is not more than `most`. Never reads on beyond that. */
export async function childrenOf(dir: Held, most: number): Promise<readonly Child[]> {
  const children: Child[] = []
  // Node knows the encoding, its types do not.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: 512 }
  for await (const entry of await opendir(dir.self, options)) {
    if (children.length === most) throw unfit(`It holds more than ${most} entries.`)
    children.push({ name: (entry.name as unknown as Buffer).toString('latin1'), type: typeOf(entry) })
  }
  return children
}

/**
 * Walks all of a tree and changes nothing, so that one which is too deep, too large, or holds what may not be touched is left as
 * it is. Links are never followed, here and below.
 */
export async function survey(
  dir: Held,
  budget: Budget,
  judge: Judge,
  copying: boolean,
  depth = 1,
): Promise<void> {
  await judge(dir)
  for (const child of await levelOf(dir, budget, depth)) {
    if (child.type === 'directory')
      await into(dir, child.name, (inner) => survey(inner, budget, judge, copying, depth + 1))
    else if (copying) await surveyFile(dir, child, budget)
  }
}

/** Removes what is in a directory. */
export async function empty(dir: Held, budget: Budget, judge: Judge, depth = 1): Promise<void> {
  await judge(dir)
  const children = await levelOf(dir, budget, depth)
  for (const { name } of children.filter(({ type }) => type === 'directory')) {
    await into(dir, name, (inner) => empty(inner, budget, judge, depth + 1))
    await rmdir(dir.at(name)).catch(ifGone)
  }
  const others = children.filter(({ type }) => type !== 'directory')
  // Some at a time: the system does four at once anyway, and nothing else is to wait for thousands.
  for (let i = 0; i < others.length; i += 32)
    await Promise.all(others.slice(i, i + 32).map(({ name }) => unlink(dir.at(name)).catch(ifGone)))
}

export interface Copying {
  readonly budget: Budget
  readonly judge: Judge
  /** Whether each file is on the disk before the next: the source will be removed. */
  readonly durable: boolean
}

/** Copies what is in a directory into an empty one. */
export async function copyInto(from: Held, to: Held, copying: Copying, depth = 1): Promise<void> {
  const { budget, judge } = copying
  await judge(from)
  for (const { name, type } of await levelOf(from, budget, depth)) {
    if (type === 'directory') {
      await mkdir(to.at(name), 0o700)
      await into(from, name, (a) => into(to, name, (b) => copyInto(a, b, copying, depth + 1)))
    } else if (type === 'symlink') await symlink(await readlink(from.at(name), 'buffer'), to.at(name))
    else await copyFile(from, to, name, copying)
  }
  // Last, because it may forbid to put anything in.
  await chmod(to.self, Number(from.facts.mode & 0o777n))
}

async function copyFile(from: Held, to: Held, name: Raw, { budget, durable }: Copying): Promise<void> {
  await gripping(async (grip) => {
    const file = await grip.hold(from.at(name), false)
    if (!file.facts.isFile()) throw notRegular()
    const source = await file.open(constants.O_RDONLY)
    try {
      const { O_CREAT, O_EXCL, O_WRONLY } = constants
      const sink = await open(to.at(name), O_CREAT | O_EXCL | O_WRONLY, 0o600)
      try {
        await sink.chmod(Number(file.facts.mode & 0o777n))
        const length = await pour(source, sink, { from: 0, to: Infinity, at: 0 }, budget.spendBytes)
        await sink.truncate(length)
        if (durable) await sink.sync()
      } finally {
        await sink.close()
      }
    } finally {
      await source.close()
    }
  })
}

async function surveyFile(dir: Held, { name, type }: Child, budget: Budget): Promise<void> {
  if (type === 'symlink') return
  const facts = await lstat(dir.at(name))
  if (!facts.isFile()) throw notRegular()
  budget.spendBytes(facts.size)
}

/** One level of a tree, paid for. */
async function levelOf(dir: Held, budget: Budget, depth: number): Promise<readonly Child[]> {
  if (depth > budget.depth) throw unfit(`It is deeper than ${budget.depth} levels.`)
  const children = await childrenOf(dir, budget.entries)
  budget.spendEntries(children.length)
  return children
}

/** Goes into a directory by a name that must not be a link. */
async function into(dir: Held, name: Raw, run: (inner: Held) => Promise<void>): Promise<void> {
  await gripping(async (grip) => {
    const inner = await grip.hold(dir.at(name), false)
    if (!inner.facts.isDirectory()) throw changed()
    await run(inner)
  })
}

function typeOf(entry: Dirent): Child['type'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'special'
}

const notRegular = () => unfit('It is not a regular file.')

/** Somebody else was faster. */
function ifGone(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error
}
