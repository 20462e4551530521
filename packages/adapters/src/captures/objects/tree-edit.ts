import { createHash } from 'node:crypto'

/** The entry of a path in a tree. */
export interface TreeEntry {
  readonly mode: string
  readonly hash: string
}

export function sameEntry(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.hash === b?.hash && a?.mode === b?.mode
}

export interface TreeEdit {
  readonly hash: string
  /**
   * The new trees of the folders whose entries have changed. Left out are folders whose result was already known from
   * earlier edits.
   */
  readonly trees: readonly { readonly hash: string; readonly data: Buffer }[]
  /** The entries that the changed paths had before. */
  readonly old: ReadonlyMap<string, TreeEntry>
  /** The result of the edits in each edited folder, by folder. */
  readonly results: ReadonlyMap<string, FolderResult>
}

/** The result of some edits in a folder. The hash is absent if the folder is then empty. */
export interface FolderResult {
  readonly edits: string
  readonly hash?: string
  /** The entries that the edited paths had before. */
  readonly old: ReadonlyMap<string, TreeEntry>
}

export interface TreeSource {
  /** Returns the data of the tree object of a folder. Returns undefined if there is none. */
  read(folder: string): Buffer | undefined
  /** Returns the result of earlier edits in a folder, which is used again if the edits are the same. */
  known(folder: string): FolderResult | undefined
  /** Called when a file takes the place of a folder, or a folder that of a file. */
  replaced?(path: string): void
}

/** Returns the tree with other entries at some paths. An undefined entry removes the path. */
export function editTree(
  edits: ReadonlyMap<string, TreeEntry | undefined>,
  format: 'sha1' | 'sha256',
  { read, known, replaced }: TreeSource,
): TreeEdit {
  const trees: { readonly hash: string; readonly data: Buffer }[] = []
  const old = new Map<string, TreeEntry>()
  const results = new Map<string, FolderResult>()
  const hashLength = format === 'sha1' ? 20 : 32
  const editFolder = (folder: string, paths: readonly string[]): string | undefined => {
    const text = paths.map((path) => `${path}\0${edits.get(path)?.mode} ${edits.get(path)?.hash}`).join('\0')
    const before = known(folder)
    if (before?.edits === text) {
      results.set(folder, before)
      for (const [path, entry] of before.old) old.set(path, entry)
      return before.hash
    }
    const data = read(folder)
    const entries = parseTree(data ?? Buffer.alloc(0), hashLength)
    const from = folder === '' ? 0 : folder.length + 1
    const inFolders = new Map<string, string[]>()
    for (const path of paths) {
      const slash = path.indexOf('/', from)
      if (slash < 0) {
        const name = bytesOf(path.slice(from))
        const present = entryIn(entries.get(name))
        const wanted = edits.get(path)
        if (present && present.mode !== treeMode) old.set(path, present)
        if (wanted && present?.mode === treeMode) replaced?.(path)
        if (wanted) entries.set(name, rawEntry(name, wanted))
        else if (present?.mode !== treeMode) entries.delete(name)
      } else {
        const sub = path.slice(0, slash)
        const below = inFolders.get(sub)
        if (below) below.push(path)
        else inFolders.set(sub, [path])
      }
    }
    for (const [sub, below] of inFolders) {
      const name = bytesOf(sub.slice(from))
      const isTree = entryIn(entries.get(name))?.mode === treeMode
      if (isTree && !read(sub)) throw new MissingTree(`there is no tree of ${sub}`)
      if (!isTree && entries.has(name)) replaced?.(sub)
      const hash = editFolder(sub, below)
      if (hash !== undefined) entries.set(name, rawEntry(name, { mode: treeMode, hash }))
      else if (isTree) entries.delete(name)
    }
    const next = serializeTree(entries)
    const isLeft = entries.size > 0 || folder === ''
    const hash = hashOf(format, next)
    if (isLeft && !data?.equals(next)) trees.push({ hash, data: next })
    results.set(folder, { edits: text, ...(isLeft && { hash }), old: picked(old, paths) })
    return isLeft ? hash : undefined
  }
  if (!read('')) throw new MissingTree('there is no tree')
  const hash = editFolder('', [...edits.keys()]) ?? ''
  return { hash, trees, old, results }
}

function picked(entries: ReadonlyMap<string, TreeEntry>, paths: readonly string[]): Map<string, TreeEntry> {
  return new Map(
    paths.flatMap((path) => {
      const entry = entries.get(path)
      return entry ? [[path, entry] as const] : []
    }),
  )
}

/**
 * Thrown when a file has taken the place of a folder, or a folder that of a file. Git may then not have listed all
 * files that are gone with the folder, such as files behind a link that leads nowhere. So the index must be updated.
 */
export class KindChanged extends Error {}

/** Thrown when a folder of the tree cannot be read. The user's repository may have deleted the tree object. */
export class MissingTree extends Error {}

/** Returns the folders of paths, from the top down: those that `editTree` reads. */
export function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set([''])
  for (const path of paths)
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
      folders.add(path.slice(0, slash))
  return folders
}

/** Returns the bytes of each entry, by the name of the entry. Each character of a name is one byte. */
function parseTree(data: Buffer, hashLength: number): Map<string, Buffer> {
  const entries = new Map<string, Buffer>()
  for (let at = 0; at < data.length;) {
    // A mode has five or six digits.
    const space = data[at + 5] === 32 ? at + 5 : at + 6
    const nul = data.indexOf(0, space)
    const end = nul + 1 + hashLength
    entries.set(data.toString('latin1', space + 1, nul), data.subarray(at, end))
    at = end
  }
  return entries
}

function entryIn(raw: Buffer | undefined): TreeEntry | undefined {
  if (!raw) return undefined
  const space = raw[5] === 32 ? 5 : 6
  const mode = raw.toString('latin1', 0, space).padStart(6, '0')
  return { mode, hash: raw.toString('hex', raw.indexOf(0) + 1) }
}

function rawEntry(name: string, { mode, hash }: TreeEntry): Buffer {
  return Buffer.concat([
    Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`, 'latin1'),
    Buffer.from(hash, 'hex'),
  ])
}

/**
 * Returns the data of a tree object with these entries. Git sorts the names of folders as if they ended with a slash.
 */
function serializeTree(entries: ReadonlyMap<string, Buffer>): Buffer {
  const keys = [...entries].map(([name, raw]) => ({ key: raw[5] === 32 ? `${name}/` : name, raw }))
  const isSorted = keys.every(({ key }, i) => i === 0 || (keys[i - 1]?.key ?? '') < key)
  const sorted = isSorted ? keys : keys.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return Buffer.concat(sorted.map(({ raw }) => raw))
}

function hashOf(format: 'sha1' | 'sha256', data: Buffer): string {
  return createHash(format).update(`tree ${data.length}\0`).update(data).digest('hex')
}

function bytesOf(name: string): string {
  return Buffer.from(name).toString('latin1')
}

const treeMode = '040000'
