import { lstat, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { blobHash } from './apply/present.ts'
import { objectsIn } from './objects/base-objects.ts'
import type { Judgement, RawChange } from './compare.ts'
import { convertedPaths, hasConversions } from './converted.ts'
import type { Converted } from './converted.ts'
import { isUnchanged, parseIndex } from './index-file.ts'
import type { IndexEntry, StatTrust } from './index-file.ts'
import { placeOf } from './place.ts'
import type { Place } from './place.ts'
import type { CaptureStore } from './store.ts'
import type { CaptureTools } from './tools.ts'

/**
 * Decides which differences between a commit and a capture are real. A commit has files as git stores them (LFS pointers, LF).
 * A capture has the bytes on the disk. No filter runs here. A file counts as unchanged if its times and its size are those in
 * the index of the user's repository, or if it differs only in its line ends. For every other file that git may convert at a
 * checkout, it is unknown which bytes the file had on the disk before.
 */
export async function judgeConverted(
  tools: CaptureTools,
  store: CaptureStore,
  changes: readonly RawChange[],
  sizes: ReadonlyMap<string, number>,
): Promise<Judgement> {
  const none: Judgement = { same: new Set(), unknown: new Set() }
  const stored = changes.filter((change) => mayBeConverted(change))
  if (stored.length === 0) return none
  const place = await placeOf(tools, store.directory)
  const index = await userIndex(place)
  const attributes = changes.some(({ path }) => path.endsWith('.gitattributes'))
  const tracked = attributes || index?.file.includes('.gitattributes') === true
  if (!place.repository || !(await hasConversions(tools, place, tracked))) return none
  const paths = stored.map((change) => pathIn(place, change))
  const converted = await convertedPaths(tools, place, paths)
  const doubtful = stored.filter((change) => isConverted(converted, pathIn(place, change)))
  const clean = await cleanOf(place, index, doubtful)
  const same = new Set([...clean, ...(await sameLines(store, { place, converted, sizes }, doubtful))])
  const unknown = doubtful.filter((change) => {
    const path = pathIn(place, change)
    return !same.has(change) && (converted.opaque.has(path) || converted.crlf.has(path))
  })
  return { same, unknown: new Set(unknown) }
}

/**
 * Whether the earlier content may have another form on the disk. Git does not convert links. A file with the same bytes on both
 * sides was not converted, unless it was renamed.
 */
function mayBeConverted({ before, after, oldPath }: RawChange): boolean {
  return before?.mode.startsWith('100') === true && (before.hash !== after?.hash || oldPath !== undefined)
}

/** Returns the path of the earlier content, relative to the root of the working tree. */
function pathIn({ prefix }: Place, { path, oldPath = path }: RawChange): string {
  return prefix + oldPath
}

function isConverted({ opaque, lineEnds }: Converted, path: string): boolean {
  return opaque.has(path) || lineEnds.has(path)
}

interface UserIndex {
  readonly file: Buffer
  readonly trust: StatTrust
}

async function userIndex({ repository, settings }: Place): Promise<UserIndex | undefined> {
  if (!repository) return undefined
  const path = join(repository.gitDir, 'index')
  const written = await stat(path, { bigint: true }).catch(() => undefined)
  const file = written?.isFile() ? await readFile(path).catch(() => undefined) : undefined
  if (!written || !file) return undefined
  const minimal = settings.includes('checkstat = minimal')
  const ctime = !minimal && !settings.includes('trustctime = false')
  return { file, trust: { written: written.mtimeNs, ctime, inode: !minimal } }
}

/** Returns the changes of files that, according to the user's index, have the content of the commit. */
async function cleanOf(
  place: Place,
  index: UserIndex | undefined,
  changes: readonly RawChange[],
): Promise<readonly RawChange[]> {
  if (!index || changes.length === 0) return []
  const wanted = new Set(changes.map((change) => pathIn(place, change)))
  const entries = new Map<string, IndexEntry>()
  for (const entry of parseIndex(index.file, place.hashLength) ?? []) {
    const path = entry.path.toString('utf8')
    if (wanted.has(path)) entries.set(path, entry)
  }
  const found = await Promise.all(
    changes.map(async (change) => {
      const path = pathIn(place, change)
      const entry = change.oldPath === undefined && change.after ? entries.get(path) : undefined
      if (!entry || entry.hash !== change.before?.hash) return []
      const info = await lstat(join(place.root, path), { bigint: true }).catch(() => undefined)
      return info?.isFile() && isUnchanged(entry, info, index.trust) ? [change] : []
    }),
  )
  return found.flat()
}

/** Returns the files that differ from the commit by nothing but CRLF in place of LF. */
async function sameLines(
  store: CaptureStore,
  { place, converted, sizes }: LineFacts,
  changes: readonly RawChange[],
): Promise<readonly RawChange[]> {
  const sizeOf = (hash = '') => sizes.get(hash) ?? 0
  let bytes = 0
  const candidates = changes.filter((change) => {
    const { before, after, oldPath } = change
    const size = sizeOf(after?.hash)
    const isLonger = size > sizeOf(before?.hash) && size <= 2 * sizeOf(before?.hash)
    if (!isLonger || oldPath !== undefined || before?.mode !== after?.mode) return false
    if (converted.opaque.has(pathIn(place, change)) || bytes + size > mostBytes) return false
    bytes += size
    return true
  })
  if (candidates.length === 0) return []
  const input = candidates.map(({ after }) => `${after?.hash}\n`).join('')
  const output = await store.run(['cat-file', '--batch', '--buffer'], { view: 'all', input })
  const contents = objectsIn(output, candidates.length)
  return candidates.filter(({ before }, i) => {
    const data = contents[i]?.data
    return data && blobHash(withoutCr(data), place.hashLength * 2) === before?.hash
  })
}

interface LineFacts {
  readonly place: Place
  readonly converted: Converted
  readonly sizes: ReadonlyMap<string, number>
}

/** Returns the bytes with LF in place of every CRLF. */
function withoutCr(data: Buffer): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let at = data.indexOf('\r\n'); at >= 0; at = data.indexOf('\r\n', at + 2)) {
    parts.push(data.subarray(from, at))
    from = at + 1
  }
  return Buffer.concat([...parts, data.subarray(from)])
}

/** The maximum number of bytes that are read to compare line ends. Files beyond this limit are not read. */
const mostBytes = 32 * 1024 * 1024
