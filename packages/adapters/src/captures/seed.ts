import { createHash } from 'node:crypto'
import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convertedPaths, hasConversions } from './converted.ts'
import { isPlain, parseIndex, writeIndex } from './index-file.ts'
import type { HashLength, IndexEntry } from './index-file.ts'
import type { Place } from './place.ts'
import type { CaptureStore } from './store.ts'
import type { CaptureTools } from './tools.ts'

/**
 * Makes the index of a store from the user's index, with the stat data in it, so that the first capture of a large
 * repository does not read every file. An entry is left out if its hash may differ from the bytes on the disk; git
 * then finds its file like a new one. Without a readable index of the user, the index of the store is empty at first.
 */
export async function seedIndex(tools: CaptureTools, store: CaptureStore, place: Place): Promise<void> {
  const user = place.repository && join(place.repository.gitDir, 'index')
  const before = user === undefined ? undefined : await stat(user).catch(() => undefined)
  const file =
    before?.isFile() && user !== undefined ? await readFile(user).catch(() => undefined) : undefined
  const data = file && isWhole(file, place.hashLength) ? await certain(tools, store, place, file) : undefined
  await writeFile(store.index, data ?? indexOf(place, []))
  // Git trusts the stat data of an entry only if the file is older than the index. The data is as old as the user's index, so
  // our copy gets the same time, less a microsecond against rounding.
  const mtime = before ? before.mtimeMs / 1000 - 1e-6 : 0
  await utimes(store.index, mtime, mtime)
}

function indexOf({ format }: Place, entries: readonly IndexEntry[]): Buffer {
  return writeIndex(entries, (bytes) => createHash(format).update(bytes).digest())
}

/**
 * Returns an index without the entries whose hashes may differ from the bytes on the disk. If there are no such
 * entries, the index is returned as it is, with its cached trees.
 */
async function certain(
  tools: CaptureTools,
  store: CaptureStore,
  place: Place,
  file: Buffer,
): Promise<Buffer | undefined> {
  const { hashLength, prefix } = place
  const mayConvert = await hasConversions(tools, place, file.includes('.gitattributes'))
  if (prefix === '' && !mayConvert && isPlain(file, hashLength)) return file
  const all = parseIndex(file, hashLength)
  return all && indexOf(place, await certainEntries(tools, store, place, all))
}

async function certainEntries(
  tools: CaptureTools,
  store: CaptureStore,
  place: Place,
  all: readonly IndexEntry[],
): Promise<readonly IndexEntry[]> {
  const prefix = Buffer.from(place.prefix)
  const entries = all.filter(
    ({ doubtful, mode, path }) =>
      !doubtful && (mode & 0o170000) !== submodule && path.subarray(0, prefix.length).equals(prefix),
  )
  const tracked = entries.some(({ path }) => path.includes('.gitattributes'))
  if (!(await hasConversions(tools, place, tracked))) return entries
  const paths = entries.map(({ path }) => path.toString('utf8'))
  const converted = await convertedPaths(tools, place, paths)
  if (converted.opaque.size === 0 && converted.lineEnds.size === 0) return entries
  const whole = await wholeLines(store, entries, converted.lineEnds)
  return entries.filter(({ path, hash, size }) => {
    const name = path.toString('utf8')
    if (converted.opaque.has(name)) return false
    return !converted.lineEnds.has(name) || whole.get(hash) === size
  })
}

/**
 * Returns the sizes of the stored contents at these paths, whose line ends git may have converted at the checkout. A
 * conversion changes the size. So a file that has the size of its stored content also has the same bytes.
 */
async function wholeLines(
  store: CaptureStore,
  entries: readonly IndexEntry[],
  paths: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const hashes = entries.filter(({ path }) => paths.has(path.toString('utf8'))).map(({ hash }) => hash)
  if (hashes.length === 0) return new Map()
  const output = await store.run(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    view: 'all',
    input: `${hashes.join('\n')}\n`,
  })
  return new Map(
    output
      .toString('latin1')
      .split('\n')
      .map((line) => {
        const [hash = '', size = ''] = line.split(' ')
        return [hash, /^\d+$/.test(size) ? Number(size) : -1]
      }),
  )
}

/** Whether the checksum at the end of an index is right. It is all zero if git was told to leave it out. */
function isWhole(file: Buffer, hashLength: HashLength): boolean {
  const end = file.length - hashLength
  const sum = file.subarray(Math.max(end, 0))
  if (sum.every((byte) => byte === 0)) return true
  const algorithm = hashLength === 32 ? 'sha256' : 'sha1'
  return createHash(algorithm).update(file.subarray(0, end)).digest().equals(sum)
}

const submodule = 0o160000
