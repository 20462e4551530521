import { CaptureFailed } from '@atrium/host/ports/captures'
import type { CapturedChange, CapturedFile } from '@atrium/host/ports/captures'
import { omittedHash, omittedMode, omittedOf, omittedReason } from './omitted.ts'
import { namesIn } from './objects/names.ts'
import { damagedRecord } from './store.ts'
import type { CaptureStore } from './store.ts'
import { withScratch, writeSides, writeWhole } from './whole.ts'

export interface Side {
  readonly mode: string
  readonly hash: string
}

export interface RawChange {
  readonly path: string
  readonly oldPath?: string
  readonly before?: Side
  readonly after?: Side
}

interface Counts {
  readonly added?: number
  readonly removed?: number
  readonly binary?: boolean
}

/**
 * The verdict of `judgeConverted` about changes from a commit, which has contents as git stores them, to a capture,
 * which has the bytes on the disk.
 */
export interface Judgement {
  /** Changes of files that differ only by a conversion of git. */
  readonly same: ReadonlySet<RawChange>
  /** Changes whose earlier content on the disk is unknown. */
  readonly unknown: ReadonlySet<RawChange>
}

export type Judge = (changes: readonly RawChange[], sizes: ReadonlyMap<string, number>) => Promise<Judgement>

/** Returns the differences of two captures of a store. */
export async function compareCaptures(
  store: CaptureStore,
  captures: readonly [before: string, after: string],
  judge?: Judge,
): Promise<readonly CapturedChange[]> {
  return withScratch(store, async (into) => {
    const { changes, trees } = await rawChanges(store, captures, into)
    if (changes.length === 0) return []
    const [sizes, counts] = await Promise.all([sizesOf(store, changes), countsOf(store, trees, into)])
    const missing = judge ? goneReason : damagedContent
    const judged = judge
      ? await judge(changes, sizes)
      : { same: new Set<RawChange>(), unknown: new Set<RawChange>() }
    return described(store, { changes, sizes, counts, missing, ...judged })
  })
}

interface Facts extends Judgement {
  readonly changes: readonly RawChange[]
  readonly sizes: ReadonlyMap<string, number>
  readonly counts: ReadonlyMap<string, Counts>
  /** The error message for a content that was stored and is not there any more. */
  readonly missing: string
}

function described(
  store: CaptureStore,
  { changes, sizes, counts, missing, same, unknown }: Facts,
): readonly CapturedChange[] {
  const fileOf = ({ mode, hash }: Side): CapturedFile => {
    const omitted = mode === omittedMode ? omittedOf(hash) : undefined
    return {
      content: `${store.name}.${hash}`,
      // The entry of a file without captured content has the mode of a submodule. The mode of such a file is reported
      // as 100644.
      mode: mode === '100755' || mode === '120000' ? mode : '100644',
      size: omitted?.size ?? sizes.get(hash) ?? 0,
      ...(omitted && { omitted: omittedReason(omitted) }),
      ...(!omitted && !sizes.has(hash) && { omitted: missing }),
    }
  }
  const hidden = ({ hash, ...side }: Side) => {
    const size = sizes.get(hash) ?? 0
    const reason = omittedReason({ kind: 'converted', size })
    const name = omittedHash({ kind: 'converted', size }, hash.padEnd(64, '0'), hash.length / 2)
    return { ...fileOf({ ...side, hash }), content: `${store.name}.${name}`, omitted: reason }
  }
  return changes.flatMap((change) => {
    const { path, oldPath, before: a, after: b } = change
    const isUnknown = unknown.has(change)
    const counted = a?.mode !== omittedMode && b?.mode !== omittedMode && !isUnknown
    const compared: CapturedChange = {
      path,
      ...(a && { before: isUnknown ? hidden(a) : fileOf(a) }),
      ...(b && { after: fileOf(b) }),
      ...(oldPath !== undefined && { oldPath }),
      ...(counted && counts.get(path)),
    }
    return same.has(change) ? [] : [compared]
  })
}

interface Compared {
  readonly changes: readonly RawChange[]
  /** The two trees that git compares to count the changed lines. */
  readonly trees: Trees
}

type Trees = readonly [before: string, after: string]

async function rawChanges(store: CaptureStore, captures: Trees, into: string): Promise<Compared> {
  const differences = await store.chain.between(...captures)
  if (!differences) return { changes: await changesOfTrees(store, captures, into), trees: captures }
  const trees = writeSides(differences, captures[0], into)
  const known = [...differences].flatMap(([path, { before, after }]) =>
    changeOf({ path, before: before && sideOf(before), after: after && sideOf(after) }),
  )
  // Only git finds renames. A rename consists of an added file and a deleted file, so git is asked only if there are
  // both.
  const mayRename = known.some(({ before }) => !before) && known.some(({ after }) => !after)
  const changes = mayRename ? await listed(store, trees, into) : known
  return { changes: (changes ?? known).toSorted(byPath), trees }
}

/**
 * Compares captures by their trees, because they are not in one chain of stored differences. The trees of a capture may not
 * be stored as objects of git. Then they are written into the folder `into`, and compared there.
 */
async function changesOfTrees(
  store: CaptureStore,
  trees: Trees,
  into: string,
): Promise<readonly RawChange[]> {
  const found = await listed(store, trees)
  if (found) return found
  for (const tree of trees) await writeWhole(store, tree, into)
  const changes = await listed(store, trees, into)
  if (!changes) throw new CaptureFailed(damagedRecord)
  return changes
}

/** Returns the changes between two trees. Returns undefined if git cannot read them. */
async function listed(
  store: CaptureStore,
  [before, after]: Trees,
  into?: string,
): Promise<readonly RawChange[] | undefined> {
  const run = (renames: string) =>
    store.tryRun(['diff-tree', '-r', '-z', '--raw', '--no-abbrev', renames, before, after], {
      view: 'all',
      ...(into !== undefined && { into }),
    })
  // Finding renames needs the contents. The user's repository may have deleted some of them, and git then fails. So
  // the second attempt does not look for renames.
  const found = await run('-M')
  const { exitCode, stdout } = found.exitCode === 0 ? found : await run('--no-renames')
  if (exitCode !== 0) return undefined
  const fields = namesIn(stdout)
  const changes: RawChange[] = []
  const bad: RawChange[] = []
  for (let i = 0; i + 1 < fields.length;) {
    const [, oldMode = '', mode = '', oldHash = '', hash = '', status] =
      /^:(\d+) (\d+) ([\da-f]+) ([\da-f]+) ([A-Z])/.exec(fields[i++]?.text ?? '') ?? []
    const [from, to] = [status === 'R' ? fields[i++] : undefined, fields[i++]]
    const [path, oldPath] = [to?.text ?? '', from?.text]
    const [a, b] = [sideOf({ mode: oldMode, hash: oldHash }), sideOf({ mode, hash })]
    const change = changeOf({ path, oldPath, before: a, after: b })
    if (from?.bytes ?? to?.bytes) bad.push(...change.map(withoutContents))
    else changes.push(...change)
  }
  // A file that differs from the index is in the capture by its escaped name, too.
  const isNamed = ({ path }: RawChange) => changes.some((each) => each.path === path)
  return [...changes, ...bad.filter((each) => !isNamed(each))].toSorted(byPath)
}

/** Returns a change of a file that has no name in the protocol: its contents can be neither shown nor set back. */
function withoutContents({ before, after, ...change }: RawChange): RawChange {
  const named = ({ hash }: Side): Side => ({
    mode: omittedMode,
    hash: omittedHash({ kind: 'name', size: 0 }, hash.padEnd(64, '0'), hash.length / 2),
  })
  return { ...change, ...(before && { before: named(before) }), ...(after && { after: named(after) }) }
}

function changeOf({ path, oldPath, before, after }: PossibleChange): readonly RawChange[] {
  if (!before && !after) return []
  const change: RawChange = {
    path,
    ...(before && { before }),
    ...(after && { after }),
    ...(oldPath !== undefined && { oldPath }),
  }
  return [change]
}

interface PossibleChange {
  readonly path: string
  readonly oldPath?: string | undefined
  readonly before: Side | undefined
  readonly after: Side | undefined
}

function byPath(a: RawChange, b: RawChange): number {
  return a.path < b.path ? -1 : 1
}

/** Returns the side, or undefined if it is a missing file or a submodule. */
function sideOf(side: Side): Side | undefined {
  const { mode, hash } = side
  return mode === '000000' || (mode === omittedMode && !omittedOf(hash)) ? undefined : side
}

async function sizesOf(
  store: CaptureStore,
  changes: readonly RawChange[],
): Promise<ReadonlyMap<string, number>> {
  const sides = changes.flatMap(({ before, after }) => [before, after])
  const hashes = new Set(sides.flatMap((side) => (side && side.mode !== omittedMode ? [side.hash] : [])))
  if (hashes.size === 0) return new Map()
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)']
  const output = await store.run(args, { view: 'all', input: `${[...hashes].join('\n')}\n` })
  return new Map(
    output
      .toString('latin1')
      .split('\n')
      .flatMap((line) => {
        const [hash = '', size = ''] = line.split(' ')
        return /^\d+$/.test(size) ? [[hash, Number(size)] as const] : []
      }),
  )
}

/**
 * Returns the numbers of added and removed lines, by path. The map is empty if git cannot read a content. The changes
 * then have no numbers.
 */
async function countsOf(
  store: CaptureStore,
  trees: Trees,
  into: string,
): Promise<ReadonlyMap<string, Counts>> {
  const args = ['diff-tree', '-r', '-z', '--numstat', '-M', ...trees]
  const { exitCode, stdout } = await store.tryRun(args, { view: 'all', into })
  const counts = new Map<string, Counts>()
  if (exitCode !== 0) return counts
  const fields = stdout.toString('utf8').split('\0')
  for (let i = 0; i + 1 < fields.length; i++) {
    const [added = '', removed = '', ...rest] = fields[i]?.split('\t') ?? []
    // In the record of a rename the path is empty. The old path and the new path follow as two fields.
    const path = rest.join('\t') === '' ? fields[(i += 2)] : rest.join('\t')
    counts.set(
      path ?? '',
      added === '-' ? { binary: true } : { added: Number(added), removed: Number(removed) },
    )
  }
  return counts
}

const goneReason = 'Its content was deleted from the repository.'
/** The captures have both contents of each change between them (O24). */
const damagedContent = 'The record of its content is damaged, so it cannot be set back.'
