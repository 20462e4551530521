import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { CaptureFailed } from '@atrium/host/ports/captures'
import type { CaptureBudget } from '@atrium/host/ports/captures'
import { blobHash } from './apply/present.ts'
import type { BaseContent } from './objects/base-objects.ts'
import { omittedMode, sizeText } from './omitted.ts'
import { differencesOf, entriesOn } from './objects/differences.ts'
import type { Entries } from './objects/differences.ts'
import { writePackFile } from './objects/pack-file.ts'
import type { PackedObject } from './objects/pack-file.ts'
import type { Place } from './place.ts'
import { isInTree } from './scan.ts'
import type { Scan } from './scan.ts'
import type { CaptureStore } from './store.ts'
import { together } from './objects/together.ts'
import { KindChanged, editTree } from './objects/tree-edit.ts'
import type { TreeEntry } from './objects/tree-edit.ts'

export interface QuickTaking {
  readonly store: CaptureStore
  readonly place: Place
  readonly scan: Scan
  readonly budget: CaptureBudget
  readonly signal: AbortSignal
  /** The hash of the tree of the store's index. */
  readonly base: string
  /** The last capture; undefined for the first one. */
  readonly last: string | undefined
}

/** Whether so few files have changed since the index was made that `takeQuickly` is faster than an update of the index. */
export function isQuick({ settings }: Place, { paths, removed, omitted, bytes }: Scan): boolean {
  const all = [...paths, ...removed, ...omitted.keys()]
  return (
    all.length <= quickFiles &&
    bytes <= quickBytes &&
    // Git reads the names of objects line by line, so a path must not contain a line break. If the disk does not
    // store the permission to execute (`filemode = false`), git must decide about modes.
    !all.some((path) => path.includes('\n')) &&
    !settings.includes('filemode = false')
  )
}

/**
 * Captures few changed files without an update of git's index, because the time of an update grows with the number of all
 * files. The changed files are read here and put into the tree of the index. Returns the new tree and the number of bytes that
 * it takes on the disk.
 */
export async function takeQuickly(
  taking: QuickTaking,
): Promise<{ readonly tree: string; readonly bytes: number }> {
  const { store, place, scan, budget, base, last } = taking
  const { format, hashLength, prefix } = place
  const { edits, contents } = readFiles(store, place, scan)
  const files = [...scan.paths, ...scan.removed, ...scan.omitted.keys()]
  const { trees, blobs } = await readBase(taking, files)
  const edited = editTree(edits, format, {
    read: (folder) => trees.get(folder),
    known: (folder) => store.baseObjects.known(folder),
    replaced: (path) => {
      throw new KindChanged(path)
    },
  })
  const tree = edited.hash
  if (tree === last && (await store.chain.between(base, tree))) return { tree, bytes: 0 }
  const isKnown = await store.own.known(hashLength)
  const fresh = new Map<string, PackedObject>()
  const add = (object: PackedObject) => {
    if (!isKnown(object.hash) && !fresh.has(object.hash)) fresh.set(object.hash, object)
  }
  for (const [path, edit] of edits) {
    const old = edited.old.get(path)
    const before = blobs.get(path)
    const data = edit && contents.get(edit.hash)
    // A file with the same content as in the index is not stored, but only named by its hash.
    if (old && old.hash === edit?.hash) continue
    if (old && before && isBlob(old.mode)) add({ type: 'blob', hash: old.hash, data: before })
    const like = old && fresh.get(old.hash)
    if (edit && data) add({ type: 'blob', hash: edit.hash, data, ...(like && !like.like && { like }) })
  }
  spend(
    budget,
    [...fresh.values()].filter(({ hash }) => contents.has(hash)),
  )
  const packs = join(store.objects, 'pack')
  const [bytes, more] = await Promise.all([
    fresh.size === 0 ? 0 : writePackFile(packs, format, together([...fresh.values()], format)),
    storeDifferences(taking, tree, { edits, old: edited.old }),
  ])
  store.baseObjects.stored(edits.keys(), edited.results)
  store.files.remember(scan.seen, edits, prefix)
  return { tree, bytes: bytes + more }
}

/**
 * Stores a capture as its differences from the last capture. If the last capture is not in a chain with the tree of
 * the index, stores the differences from that tree.
 */
async function storeDifferences(
  { store, base, last }: QuickTaking,
  tree: string,
  { edits, old }: { readonly edits: Entries; readonly old: Entries },
): Promise<number> {
  const none: Entries = new Map()
  const sinceBase = differencesOf(none, edits, old)
  const known = last === undefined ? undefined : await store.chain.between(base, last)
  const [parent, differences] =
    known && last !== undefined
      ? [
          last,
          differencesOf(entriesOn('after', known), edits, new Map([...old, ...entriesOn('before', known)])),
        ]
      : [base, sinceBase]
  const bytes = tree === base ? 0 : await store.chain.add(tree, parent, differences)
  store.chain.remember(base, tree, sinceBase)
  return bytes
}

/**
 * Reads what the tree of the index has at these paths. The result is kept in memory, so a caller that knows some of the paths
 * early can read them early.
 */
export async function readBase(
  { store, place, base, signal }: Pick<QuickTaking, 'store' | 'place' | 'base' | 'signal'>,
  files: readonly string[],
): Promise<BaseContent> {
  const paths = files.map((path) => path.slice(place.prefix.length))
  return store.baseObjects.read(base, paths, (input) =>
    store.run(['cat-file', '--batch', '--buffer'], { view: 'all', input, signal }),
  )
}

/** Reads the changed files. They are few and small, so synchronous reads are faster than asynchronous ones. */
function readFiles(store: CaptureStore, { root, prefix, hashLength }: Place, scan: Scan) {
  const edits = new Map<string, TreeEntry | undefined>()
  const contents = new Map<string, Buffer>()
  const within = (path: string) => path.slice(prefix.length)
  for (const path of scan.removed) edits.set(within(path), undefined)
  for (const [path, hash] of scan.omitted)
    if (isInTree(hash)) edits.set(within(path), { mode: omittedMode, hash })
  for (const path of scan.paths) {
    const same = store.files.same(path, scan.seen)
    if (same) edits.set(within(path), same)
    if (same) continue
    const found = contentAt(join(root, path))
    const hash = found && blobHash(found.content, hashLength * 2)
    if (found && hash !== undefined) contents.set(hash, found.content)
    edits.set(within(path), found && hash !== undefined ? { mode: found.mode, hash } : undefined)
  }
  return { edits, contents }
}

function spend({ bytes, files }: CaptureBudget, read: readonly PackedObject[]): void {
  const size = read.reduce((sum, { data }) => sum + data.length, 0)
  if (read.length > files)
    throw new CaptureFailed(
      `The host records at most ${files} new or changed files at once, and there are ${read.length}.`,
    )
  if (size > bytes)
    throw new CaptureFailed(
      `The host records at most ${sizeText(bytes)} of new or changed files at once, and there are ${sizeText(size)}.`,
    )
}

/**
 * Returns the bytes of a file, or the target of a symbolic link. Returns undefined if the path is gone, or is neither
 * a file nor a link.
 */
function contentAt(path: string): { readonly content: Buffer; readonly mode: string } | undefined {
  try {
    const info = lstatSync(path)
    if (info.isSymbolicLink()) return { content: readlinkSync(path, 'buffer'), mode: '120000' }
    if (!info.isFile()) return undefined
    const file = openSync(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    )
    try {
      const mode = (fstatSync(file).mode & 0o100) === 0 ? '100644' : '100755'
      return { content: readFileSync(file), mode }
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

function isBlob(mode: string): boolean {
  return mode.startsWith('100') || mode === '120000'
}

/**
 * The maximum number of changed files for a quick capture (`takeQuickly`). Above it, or above `quickBytes`, the capture is made
 * by updating git's index.
 */
export const quickFiles = 500
/** In bytes. */
const quickBytes = 4 * 1024 * 1024
