import { CaptureFailed } from '@atrium/host/ports/captures'
import type { CapturedChange, CapturedFile } from '@atrium/host/ports/captures'
import { omittedHash, omittedMode, omittedOf, omittedReason } from './omitted.ts'
import type { CaptureStore } from './store.ts'

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

/** Changes of which only one side is in the form of the repository (`judgeConverted`). */
export interface Judgement {
  /** Changes of files that differ only by a conversion. */
  readonly same: ReadonlySet<RawChange>
  /** Changes of which nobody knows what the earlier content is on the disk. */
  readonly unknown: ReadonlySet<RawChange>
}

export type Judge = (changes: readonly RawChange[], sizes: ReadonlyMap<string, number>) => Promise<Judgement>

/** The differences of two trees of a store. */
export async function compareTrees(
  store: CaptureStore,
  [before, after]: readonly [string, string],
  judge: Judge = async () => ({ same: new Set(), unknown: new Set() }),
): Promise<readonly CapturedChange[]> {
  const changes = await rawChanges(store, before, after)
  const [sizes, counts] = await Promise.all([sizesOf(store, changes), countsOf(store, before, after)])
  const { same, unknown } = await judge(changes, sizes)
  const fileOf = ({ mode, hash }: Side): CapturedFile => {
    const omitted = mode === omittedMode ? omittedOf(hash) : undefined
    return {
      content: `${store.name}.${hash}`,
      // A file without content has lost its mode.
      mode: mode === '100755' || mode === '120000' ? mode : '100644',
      size: omitted?.size ?? sizes.get(hash) ?? 0,
      ...(omitted && { omitted: omittedReason(omitted) }),
      ...(!omitted && !sizes.has(hash) && { omitted: goneReason }),
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

async function rawChanges(store: CaptureStore, before: string, after: string): Promise<readonly RawChange[]> {
  const list = (renames: string) =>
    store.tryRun(['diff-tree', '-r', '-z', '--raw', '--no-abbrev', renames, before, after], { view: 'all' })
  // Finding renames needs the contents, and the user's repository may have deleted some.
  const found = await list('-M')
  const { exitCode, stdout } = found.exitCode === 0 ? found : await list('--no-renames')
  if (exitCode !== 0) throw new CaptureFailed('There is no such capture.')
  const fields = stdout.toString('utf8').split('\0')
  const changes: RawChange[] = []
  for (let i = 0; i + 1 < fields.length;) {
    const [, oldMode = '', newMode = '', oldHash = '', newHash = '', status] =
      /^:(\d+) (\d+) ([\da-f]+) ([\da-f]+) ([A-Z])/.exec(fields[i++] ?? '') ?? []
    const oldPath = status === 'R' ? fields[i++] : undefined
    const path = fields[i++] ?? ''
    const [a, b] = [sideOf(oldMode, oldHash), sideOf(newMode, newHash)]
    if (!a && !b) continue
    changes.push({
      path,
      ...(a && { before: a }),
      ...(b && { after: b }),
      ...(oldPath !== undefined && { oldPath }),
    })
  }
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Undefined if there is no file, or a submodule. */
function sideOf(mode: string, hash: string): Side | undefined {
  if (mode === '000000' || (mode === omittedMode && !omittedOf(hash))) return undefined
  return { mode, hash }
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

/** The numbers of lines by path. Empty if git cannot read a content: then the changes have no numbers. */
async function countsOf(
  store: CaptureStore,
  before: string,
  after: string,
): Promise<ReadonlyMap<string, Counts>> {
  const args = ['diff-tree', '-r', '-z', '--numstat', '-M', before, after]
  const { exitCode, stdout } = await store.tryRun(args, { view: 'all' })
  const counts = new Map<string, Counts>()
  if (exitCode !== 0) return counts
  const fields = stdout.toString('utf8').split('\0')
  for (let i = 0; i + 1 < fields.length; i++) {
    const [added = '', removed = '', ...rest] = fields[i]?.split('\t') ?? []
    // A rename has an empty path here, then the old and the new path.
    const path = rest.join('\t') === '' ? fields[(i += 2)] : rest.join('\t')
    counts.set(
      path ?? '',
      added === '-' ? { binary: true } : { added: Number(added), removed: Number(removed) },
    )
  }
  return counts
}

const goneReason = 'Its content was deleted from the repository.'
