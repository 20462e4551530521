import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { omittedHash, omittedOf } from './omitted.ts'
import type { OmittedKind } from './omitted.ts'
import { namesIn } from './objects/names.ts'
import type { OutputName } from './objects/names.ts'
import type { HashLength } from './index-file.ts'
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
   * Files whose content is not captured, each with the text that replaces its hash. Only those of the kinds `large`, `unreadable` and
   * `name` are entries of trees.
   */
  readonly omitted: ReadonlyMap<string, string>
  /** The sum of the sizes of `paths`. */
  readonly bytes: number
  /** Sizes and times of files. A file is left out if it is so new that a further change might not change its size and times. */
  readonly seen: ReadonlyMap<string, string>
  /** Whether the index of the store must change. */
  readonly reindex: boolean
}

export interface Found {
  /** Paths that are new, or differ from the index. */
  readonly paths: readonly string[]
  /** Files in the index that do not exist, or are not captured any more. */
  readonly dropped: readonly string[]
  /** New and changed files whose names are not valid UTF-8. */
  readonly badNames: readonly OutputName[]
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
    return namesIn(output)
  }
  const others = ['ls-files', '-z', '--others', '--exclude-standard']
  const ignored = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const userIndex = place.repository && join(place.repository.gitDir, 'index')
  const [changed, untracked, ours, users] = await Promise.all([
    list(['diff-files', '-z', '--name-status', '--no-renames', '--ignore-submodules=all']).then((found) => {
      options.onChanged(textsOf(found.filter((_, i) => i % 2 === 1)))
      return found
    }),
    list(others),
    options.tracking ? list(ignored) : none,
    // If git cannot read the user's index, it is unknown which ignored files the user tracks. All ignored files in the index of
    // the store then stay.
    options.tracking && userIndex !== undefined ? list(ignored, userIndex).catch(() => undefined) : none,
  ])
  const known = new Set(textsOf(ours))
  const tracked = new Set(users ? textsOf(users) : known)
  // Git prints two records for each change: a letter and the path. The letter D means that the file is deleted, or
  // behind a link now.
  const gone = new Set(textsOf(changed.filter((_, i) => i % 2 === 1 && changed[i - 1]?.text === 'D')))
  const forced = textsOf(users ?? []).filter((path) => !known.has(path))
  const ignoredNow = [...known].filter((path) => !tracked.has(path))
  const changedPaths = changed.filter((_, i) => i % 2 === 1)
  return {
    paths: [
      ...new Set([
        ...textsOf(changedPaths).filter((path) => !gone.has(path)),
        ...textsOf(untracked),
        ...forced,
      ]),
    ],
    dropped: [...new Set([...gone, ...ignoredNow])],
    reindex: forced.length + ignoredNow.length > 0,
    badNames: [...changedPaths, ...untracked].filter(({ bytes }) => bytes),
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
  const omitted = new Map<string, string>()
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
    const omit = (kind: OmittedKind) =>
      omitted.set(path, omissionOf(kind, kind === 'repository' ? undefined : info, hashLength))
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
  for (const { text, bytes: name } of found.badNames)
    if (name && !listed.has(text))
      omitted.set(
        text,
        omissionOf('name', statNow(Buffer.concat([Buffer.from(`${root}/`), name])), hashLength),
      )
  // The entry of such a file may be in the index. Git does not tell that the file is gone, because the name is not that of the file.
  const lost = state.omitted.flatMap(([path, hash]) =>
    omittedOf(hash)?.kind === 'name' && !omitted.has(path) && !listed.has(path) ? [path] : [],
  )
  return {
    paths,
    removed: [...removed, ...lost],
    omitted,
    bytes,
    seen,
    reindex: found.reindex || lost.length > 0,
  }
}

/** Whether trees have an entry for an omitted file with this hash. */
export function isInTree(hash: string): boolean {
  const kind = omittedOf(hash)?.kind
  return kind === 'large' || kind === 'unreadable' || kind === 'name'
}

/** Returns the text that replaces the hash of an omitted file. It is another one when the file changes. */
function omissionOf(kind: OmittedKind, info: BigIntStats | undefined, hashLength: HashLength): string {
  const facts = info ? `${info.size} ${info.mtimeNs} ${info.ino} ${info.mode}` : ''
  const fingerprint = createHash('sha256').update(facts).digest('hex')
  return omittedHash({ kind, size: Number(info?.size ?? 0) }, fingerprint, hashLength)
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
function statNow(path: string | Buffer, stat = lstatSync): BigIntStats | undefined {
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

const none: readonly OutputName[] = []

/** Returns the names that are valid text. */
function textsOf(names: readonly OutputName[]): readonly string[] {
  return names.flatMap(({ text, bytes }) => (bytes ? [] : [text]))
}

/** Runs a task for each item. Yields to the event loop after every few hundred items. */
async function eachOf<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  for (const [i, item] of items.entries()) {
    await task(item)
    if (i % 500 === 499) await new Promise((resolve) => setImmediate(resolve))
  }
}
