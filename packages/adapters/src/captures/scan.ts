import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { omittedHash, omittedOf } from './omitted.ts'
import type { OmittedKind } from './omitted.ts'
import type { Place } from './place.ts'
import type { CaptureStore, StoreState } from './store.ts'
import { tickMs } from './unchanged.ts'

/** What may have changed since the last capture. Paths are relative to the root of the working tree. */
export interface Scan {
  /** Files whose contents are read and hashed again. */
  readonly paths: readonly string[]
  /** Files to be removed from the index. */
  readonly removed: readonly string[]
  /**
   * Files whose content is not captured, each with the text that replaces its hash. Only those of the kinds `large` and
   * `unreadable` are entries of trees.
   */
  readonly omitted: ReadonlyMap<string, string>
  /** The sum of the sizes of `paths`. */
  readonly bytes: number
  /** Sizes and times of files. A file is left out if it is so new that a further change might not change its size and times. */
  readonly seen: ReadonlyMap<string, string>
}

export interface Found {
  /** Paths that are new, or differ from the index. */
  readonly paths: readonly string[]
  /** Files in the index that do not exist, or are not captured any more. */
  readonly dropped: readonly string[]
  /** Names that are not valid UTF-8, decoded with replacement characters. */
  readonly badNames: readonly string[]
  /**
   * Whether the index of the store must change: git now ignores files that are in it, or the user has begun to track
   * ignored files that are not in it.
   */
  readonly reindex: boolean
}

export interface ScanOptions {
  /** The path of the user's own list of ignored files: git's setting `core.excludesFile`. */
  readonly excludes: string
  /** Whether the set of tracked files or the set of ignored files may have changed since the last capture. */
  readonly tracking: boolean
  readonly signal: AbortSignal
  /** Called with the changed files of the index, while git still looks for new files. */
  readonly onChanged: (paths: readonly string[]) => void
}

/**
 * Lists what differs between the index and the disk. Reads no content. A repository says which files to ignore. A folder without
 * one often says nothing, so installed packages are left out there: reading them could take longer than a turn may wait.
 */
export async function findChanges(store: CaptureStore, place: Place, options: ScanOptions): Promise<Found> {
  const { root, prefix } = place
  const list = async (args: readonly string[], index = store.index) => {
    const excludes = ['-c', `core.excludesFile=${options.excludes}`]
    const tree = { root, index }
    const scope = prefix === '' ? [] : ['--', prefix]
    const output = await store.run([...excludes, ...args, ...scope], {
      view: 'own',
      signal: options.signal,
      tree,
    })
    return recordsOf(output)
  }
  const others = ['ls-files', '-z', '--others', '--exclude-standard']
  const ignored = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const userIndex = place.repository && join(place.repository.gitDir, 'index')
  const [changed, untracked, ours, users] = await Promise.all([
    list(['diff-files', '-z', '--name-status', '--no-renames', '--ignore-submodules=all']).then((found) => {
      options.onChanged(found.names.filter((_, i) => i % 2 === 1))
      return found
    }),
    list(others),
    options.tracking ? list(ignored) : none,
    // If git cannot read the user's index, it is unknown which ignored files the user tracks. All ignored files in the index of
    // the store then stay.
    options.tracking && userIndex !== undefined ? list(ignored, userIndex).catch(() => undefined) : none,
  ])
  const tracked = new Set(users?.names ?? ours.names)
  // Git prints two records for each change: a letter and the path. The letter D means that the file is deleted, or
  // behind a link now.
  const lettersAndPaths = changed.names
  const gone = new Set(lettersAndPaths.filter((_, i) => i % 2 === 1 && lettersAndPaths[i - 1] === 'D'))
  const known = new Set(ours.names)
  const forced = (users?.names ?? []).filter((path) => !known.has(path))
  const ignoredNow = ours.names.filter((path) => !tracked.has(path))
  return {
    paths: [
      ...new Set([
        ...lettersAndPaths.filter((path, i) => i % 2 === 1 && !gone.has(path)),
        ...untracked.names,
        ...forced,
      ]),
    ],
    dropped: [...new Set([...gone, ...ignoredNow])],
    reindex: forced.length + ignoredNow.length > 0,
    badNames: untracked.bad,
  }
}

/** Looks at each path: what kind of file it is now, and how large. */
export async function inspect(
  { root, hashLength }: Place,
  found: Found,
  state: Pick<StoreState, 'omitted'>,
  fileBytes: number,
): Promise<Scan> {
  const dropped = new Set(found.dropped)
  const listed = new Set(found.paths)
  const known = state.omitted.flatMap(([path, hash]) =>
    path.endsWith('/') || omittedOf(hash)?.kind === 'name' ? [] : [path],
  )
  const candidates = [...new Set([...found.paths, ...known])].filter((path) => !dropped.has(path))
  const paths: string[] = []
  const removed = [...found.dropped]
  const omitted = new Map<string, string>(
    found.badNames.map((path) => [path, omittedHash({ kind: 'name', size: 0 }, '0'.repeat(64), hashLength)]),
  )
  let bytes = 0
  const seen = new Map<string, string>()
  const now = Date.now()
  await eachOf(candidates, async (path) => {
    const full = join(root, path)
    const isThere = listed.has(path) || (await isBehindNoLink(full))
    const info = isThere ? statNow(full) : undefined
    const size = Number(info?.size ?? 0)
    if (info && Math.max(Number(info.mtimeMs), Number(info.ctimeMs)) < now - tickMs)
      seen.set(path, `${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs} ${info.mode}`)
    const omit = (kind: OmittedKind) => {
      const facts =
        info && kind !== 'repository' ? `${info.size} ${info.mtimeNs} ${info.ino} ${info.mode}` : ''
      const fingerprint = createHash('sha256').update(facts).digest('hex')
      omitted.set(
        path,
        omittedHash({ kind, size: kind === 'repository' ? 0 : size }, fingerprint, hashLength),
      )
    }
    if (!info) removed.push(path)
    else if (path.endsWith('/')) omit('repository')
    else if (info.isSymbolicLink()) paths.push(path)
    else if (info.isFile()) {
      if (size > fileBytes) omit('large')
      else if (!isReadable(full)) omit('unreadable')
      else {
        paths.push(path)
        bytes += size
      }
    } else if (listed.has(path)) removed.push(path)
  })
  return { paths, removed, omitted, bytes, seen }
}

/** Whether trees have an entry for an omitted file with this hash. */
export function isInTree(hash: string): boolean {
  const kind = omittedOf(hash)?.kind
  return kind === 'large' || kind === 'unreadable'
}

/**
 * Returns a text that changes when the set of tracked or ignored files may have changed: when the user's index
 * changes, or one of the lists of ignored files outside the working tree.
 */
export function trackingOf({ repository }: Place, excludes: string): string {
  const files = repository
    ? [join(repository.gitDir, 'index'), join(repository.commonDir, 'info', 'exclude'), excludes]
    : [excludes]
  const seen = files.map((path) => {
    const info = statNow(path, statSync)
    return info ? `${info.size} ${info.mtimeNs} ${info.ino}` : ''
  })
  return seen.join('|')
}

async function isBehindNoLink(path: string): Promise<boolean> {
  const folder = dirname(path)
  return (await realpath(folder).catch(() => undefined)) === folder
}

/**
 * Returns the stat data of a path, or undefined if nothing exists there. The call is synchronous, because one system
 * call takes much less time than a change of threads.
 */
function statNow(path: string, stat = lstatSync): BigIntStats | undefined {
  try {
    return stat(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

interface Records {
  readonly names: readonly string[]
  readonly bad: readonly string[]
}

const none: Records = { names: [], bad: [] }

/** Splits output at its NULs. Names that are not valid text are listed apart. */
function recordsOf(output: Buffer): Records {
  const all = output.toString('utf8').split('\0').slice(0, -1)
  // The replacement character may also be part of a valid name. A name is valid if the output contains exactly its
  // bytes.
  if (!all.some((name) => name.includes('\uFFFD'))) return { names: all, bad: [] }
  const valid = new Set(
    all.filter((name) => !name.includes('\uFFFD') || output.includes(Buffer.from(`${name}\0`))),
  )
  return { names: all.filter((name) => valid.has(name)), bad: all.filter((name) => !valid.has(name)) }
}

/** Runs a task for each item. Yields to the event loop after every few hundred items. */
async function eachOf<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  for (const [i, item] of items.entries()) {
    await task(item)
    if (i % 500 === 499) await new Promise((resolve) => setImmediate(resolve))
  }
}
